"""A folder with one thing wrong answers as before, is refused by name, or says what it assumes."""

from __future__ import annotations

import pytest
from mutations import outcomes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_no_mutation_changes_an_answer_in_silence(seed: int) -> None:
    wrong = [o for o in outcomes(200, seed) if o.kind in ("silent", "traceback", "unnamed")]
    assert wrong == []
