"""Two runs of one model in; the verdict whether they are the same, out."""

from likewise.rooms import make_callable

make_callable(__name__, "likewise.prove.proof:prove")
