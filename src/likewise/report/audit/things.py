"""A label in; the thing that it names and what sets it apart from others of its kind, out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from likewise.report.audit.figures import unit_of

__all__ = [
    "OUTPUT",
    "PICTURE",
    "THINGS",
    "Thing",
    "apart",
    "apart_in",
    "named",
    "under",
    "words_of",
]


@dataclass(frozen=True)
class Thing:
    """Something that a report gives a number for."""

    name: str
    units: tuple[str, ...]  # a figure of it has one of these
    pattern: re.Pattern[str]
    whole: bool = False  # a count


def _thing(name: str, units: str, pattern: str, *, whole: bool = False) -> Thing:
    listed = tuple("" if unit == "none" else unit for unit in units.split())
    return Thing(name, listed, re.compile(pattern, re.IGNORECASE | re.ASCII), whole)


_MOST = r"(?:max(?:imum|imal)?|largest|worst|最大)"
_OF = r"(?:num(?:ber of)?[ _-])?"
_MEAN = r"(?:mean|average|avg\.?|平均)"
_ERROR = r"(?:abs(?:olute)?\.?\s*|绝对)?\s*(?:diff(?:erence)?s?|errors?|deviations?|误差|差异)"
THINGS = (
    _thing("largest difference", "none", rf"{_MOST}[ _-]*{_ERROR}"),
    _thing("mean difference", "none", rf"{_MEAN}[ _-]*{_ERROR}|\bMAE\b"),
    _thing("cosine", "none", r"\bcos(?:ine)?\b(?:[ _-]*sim(?:ilarity)?)?|余弦(?:相似度)?"),
    _thing("throughput", "/s", r"through-?put|(?:items|sentences|images) per second|吞吐量?"),
    _thing("speed-up", "x", r"speed-?\s?ups?|加速比?|提速"),
    _thing("energy", "J", r"energy|能耗"),
    _thing("power", "W", r"power|功耗|功率"),
    _thing("latency", "s", r"latency|inference time|(?:elapsed|run) ?time|\btime\b|延迟|时延|耗时"),
    _thing("memory", "B", r"(?:peak\s*)?(?:memory|RAM|VRAM)|显存|内存"),
    _thing("accuracy", "none %", r"accuracy|准确率|精确率"),
    _thing("F1", "none %", r"\bF1\b(?:[ -]?score)?"),
    _thing("top-1", "none %", r"top-?\s?1\b(?!\d)"),
    _thing("top-5", "none %", r"top-?\s?5\b(?!\d)"),
    _thing("parameters", "M none", r"param(?:eter)?s?\b|参数量?"),
    _thing("hidden size", "none", r"hidden[ _-]?(?:size|dim\w*|units)|隐藏层?维度", whole=True),
    _thing("layers", "none", rf"{_OF}(?:hidden[ _-])?layers\b|层数", whole=True),
    _thing("heads", "none", rf"{_OF}(?:attention[ _-])?heads\b|注意力头数?", whole=True),
    _thing("vocabulary", "none", r"(?<![a-z_])vocab(?:ulary)?(?:[ _-]size)?|词表", whole=True),
    _thing(
        "classes", "none",
        rf"{_OF}(?:classes|labels|categories)\b|类别数?|标签数?", whole=True,
    ),
    _thing(
        "longest input", "none",
        r"max(?:imum|imal)?[ _-]*(?:(?:seq(?:uence)?|input|token|model|position|text)[ _-]*)?"
        r"(?:len(?:gth)?|tokens|embeddings)\b|最大(?:序列|输入)?长度", whole=True,
    ),
    _thing("batch", "none", r"batch(?:[ _-]?size)?|批(?:大小|次|量)", whole=True),
)  # fmt: skip
"""In the order of asking: "max error" is no "error", "inference time" no "time"."""

PICTURE = _thing("picture size", "none", r"picture|image|input|pixel|resolution|图|分辨率|输入")
OUTPUT = _thing("output width", "none", r"output|logits|features?|embeddings?|vector|输出")
"""Read from shapes, such as 224 × 224 and [1, 1000]."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9+.:/_-]*|\d+(?:\.\d+)?|[\u4e00-\u9fff]+")
_SAID_OF_ALL = """
a an the of on in for to is was are and or with by as at our we it its this that from
metric metrics value values result results measured measure item name number figure
performance accuracy precision summary overview evaluation evaluations test tests
testing validation verification benchmark benchmarks inference run running report
introduction conclusion conclusions details detail section data model models final
mean average avg per single one each input size npu ascend device same overall total
picture pictures image images sentence sentences text texts post posts sample samples items
smoke deployment comparison compare check checks similarity score output outputs
平均 性能 精度 结果 总结 概述 评测 测试 验证 推理 对比 数据 说明 结论 指标 数值 昇腾 部署
性能测试 精度测试 性能数据 精度验证 性能评测 精度评测 测试结果 推理性能 单次 单条 值
"""
_GENERIC = frozenset(_SAID_OF_ALL.split())
_KNOWN = re.compile(
    r"\b(?:cpu|gpu|cuda|v100|a100|h100|t4|xeon|910\w*|310\w*|fp(?:16|32|64)|float(?:16|32|64)"
    r"|bf(?:loat)?16|tf32|hf32|int8|p50|p9\d|median|max(?:imum)?|min(?:imum)?|worst|best|first"
    r"|cold|warm\w*|load\w*|compil\w+|start\w*|single|end-to-end|encod\w+|tokeni\w+|pre\w*process\w*"
    r"|post\w*process\w*|onnx\w*|openvino|torch|pytorch|tensorrt|om|before|after|old|new|baseline"
    r"|original|previous|optimi\w+|peak|train\w*|eager|graph|short|long|mixed"
    r"|logits|features?|embeddings?|hidden|pooled|vectors?)\b"
    r"|\b(?:batch(?:[ _-]?size)?|bs|b|seq\w*|length|epoch|run|card|t)\s*[=:]?\s*\d+"
    r"|\d+\s*(?:tokens|threads|cards)"
    r"|首次|冷启动|预热|加载|编译|峰值|最大|最小|中位数|优化前|优化后|基线|批",
    re.IGNORECASE | re.ASCII,
)
_CHINESE = re.compile("|".join(sorted((w for w in _GENERIC if w > "\u3000"), key=len)[::-1]))
"""Chinese has no spaces: what is said of all is taken out of a longer word."""
_NUMBERED = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.、)]?|[一二三四五六七八九十]+、)\s*")  # of a heading
_DEVICE = re.compile(
    r"\b(?:cpu|gpu|npu|cuda|xeon|ascend|[vah]100|t4|[93]10\w*)\b|昇腾", re.I | re.A
)
_OF_TWO = (
    "cosine",
    "largest difference",
    "mean difference",
    "speed-up",
)  # the CPU is always one of the two
_CODE = re.compile(r"`([^`]+)`|(https?://[^\s)]+)")


def named(label: str) -> Thing | None:
    """Return the thing that a label names; None where it names none that is known."""
    return next((thing for thing in THINGS if thing.pattern.search(label)), None)


def words_of(label: str, thing: Thing | None = None) -> frozenset[str]:
    """Return the words of a label that set it apart, without those of the thing itself."""
    bare = thing.pattern.sub(" ", label) if thing is not None else label
    if unit_of(label)[0]:
        bare = re.sub(r"[(（\[][^)）\]]{0,16}[)）\]]\s*$", " ", bare)
    words = (_CHINESE.sub("", w) if w[0] > "\u3000" else w.lower() for w in _WORD.findall(bare))
    return frozenset(w for w in words if w) - _GENERIC


def under(headings: Iterable[str]) -> frozenset[str]:
    """Return what headings say of all that stands under them; their numbers say nothing."""
    return frozenset[str]().union(*(words_of(_NUMBERED.sub("", h)) for h in headings))


def apart_in(clause: str, thing: Thing, words: frozenset[str]) -> frozenset[str]:
    """Return what sets a clause's figure apart, of the words of its sentence.

    A clause that names a device is about that one, whichever others the sentence names.
    """
    own = {m[0].lower() for m in _DEVICE.finditer(clause)}
    if own:
        words = frozenset(w for w in words if not _DEVICE.fullmatch(w)) | (own - _GENERIC)
    return words - {"cpu"} if thing.name in _OF_TWO else words


def apart(sentence: str, headings: Iterable[str]) -> frozenset[str]:
    """Return what sets a sentence's figures apart: devices, precisions, batches, spans of code."""
    found = {re.sub(r"\s", "", m[0].lower()) for m in _KNOWN.finditer(sentence)}
    found |= {m[0].strip("`").lower() for m in _CODE.finditer(sentence)}
    return frozenset(found) - _GENERIC | under(headings)
