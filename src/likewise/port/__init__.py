"""The main job: a model folder in; every plan refused, proven or timed, and a choice, out."""

from likewise.rooms import make_callable

make_callable(__name__, "likewise.port.job:port")
