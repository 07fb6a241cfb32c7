"""Are there classes to be among the best of?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from likewise.report.audit.finding import Finding
from likewise.report.audit.subject import Subject

__all__ = ["check"]

_TOP = re.compile(r"\btop-?\s?(\d{1,2})\b(?!\s*(?:\.|results|answers|tokens))", re.IGNORECASE)
_WITHOUT = re.compile(
    r"feature extraction|(?:image|sentence|text|picture)[ -]embeddings?|embedding model"
    r"|sentence vectors?|image features?|no (?:trained )?(?:classes|classifier|classification head)"
    r"|num_classes\s*[=:]\s*0|特征提取|句向量|图像特征|文本向量",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"classif|\d\s*(?:classes|labels)|fill-?mask|masked|分类|类别|retriev", re.IGNORECASE
)
_STATED = re.compile(
    r"(?<![\d.,])(\d{1,6})\s?-?\s?(?:class(?:es)?|labels|categories|个?(?:类别|标签)|分类)(?![A-Za-z-])"
    r"(?!\s*(?:flip|differ|chang|are|were|wrong))",
    re.IGNORECASE,
)
_CLAIM = re.compile(
    r"\d\s*[%％]|[01]\.\d|\|\s*1\s*(?:\||$)|pass|match|agree|一致|通过|✅", re.IGNORECASE
)


def check(subject: Subject) -> Iterator[Finding]:
    """Yield top-k of something without classes, and top-k of no more than k classes."""
    text = "\n".join(line.text for line in subject.sheet.lines())
    stated = {int(m[1]) for m in _STATED.finditer(text)}
    classes = subject.facts.get("classes", stated.pop() if len(stated) == 1 else None)
    if "classes" in subject.facts:
        without = classes == 0
    else:
        without = bool(_WITHOUT.search(text)) and not _WITH.search(text) and not stated
    for line in subject.sheet.lines():
        ranks = [int(m[1]) for m in _TOP.finditer(line.text)] if _CLAIM.search(line.text) else []
        if ranks and without:
            names = ", ".join(f"top-{k}" for k in ranks)
            said = "the output is a vector: there are no classes to be among the best of"
            yield Finding("classes", "wrong", (line.number,), names, said)
        elif classes:
            for k in sorted({k for k in ranks if 1 < k >= classes}):
                said = f"of {classes} classes the best {k} are all of them: it cannot fail"
                yield Finding("classes", "wrong", (line.number,), f"top-{k}", said)
