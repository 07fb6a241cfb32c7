"""Token counts, in; batches of indices that obey an item and a token limit, out."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BATCH_BYTES", "BATCH_TOKENS", "batches"]

BATCH_TOKENS = 4096
"""Most tokens in a batch, padding counted. A few hundred rows already reach most of a matrix
kernel's speed on two cores; a larger batch gains nothing and costs memory."""

BATCH_BYTES = 4 * 2**20
"""Most bytes of input in a batch on a CPU: four pictures of 256 x 256. ConvNeXt-base took 0.23 to
0.27 s a picture in batches of 16, and 0.20 to 0.22 s in batches of 2 to 4, on each engine."""

ALIKE = 0.8
"""An item joins a batch only if it has this share of the longest one's tokens …"""

SMALL_TOKENS = 128
"""… or if the batch has fewer than these. On MiniLM and 128 texts of 10 to 250 tokens the two
gained 8 to 26 % on each engine over batches by count alone; on 16 such texts, five-fold."""


def batches(
    tokens: Sequence[int],
    items_limit: int,
    token_limit: int = BATCH_TOKENS,
    *,
    alike: bool = False,
) -> list[list[int]]:
    """Return batches of indices, longest items first; every index once.

    Sorting by length, and parting what is not alike, keeps padding low; the longest batch first
    meets the memory peak at the start. An item longer than the token limit is a batch of its own.

    Args:
        tokens: the cost of each item; equal costs keep their order.
        items_limit: most items in a batch, at least 1.
        token_limit: most tokens in a batch, counted as items × the longest of them.
        alike: only items of equal cost share a batch: nothing is padded.

    >>> batches([3, 9, 3, 8], items_limit=2)
    [[1, 3], [0, 2]]
    >>> batches([250, 240, 9, 9], items_limit=16)
    [[0, 1], [2, 3]]
    """
    made: list[list[int]] = []
    room = longest = 0  # items that the last batch can still take, and its longest
    for index in sorted(range(len(tokens)), key=lambda i: -tokens[i]):
        full = len(made[-1]) * longest >= SMALL_TOKENS if made else True
        parted = tokens[index] < longest if alike else full and tokens[index] < ALIKE * longest
        if room == 0 or parted:
            made.append([])
            longest = max(1, tokens[index])
            room = max(1, min(items_limit, token_limit // longest))
        made[-1].append(index)
        room -= 1
    return made
