"""A folder and plans in; how fast each one is on the same work, with the doubts, out."""

from likewise.rooms import make_callable

make_callable(__name__, "likewise.bench.rounds:bench")
