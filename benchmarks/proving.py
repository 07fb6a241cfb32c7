"""Full-size models in; how long their proofs take and the largest process of each, out.

    python benchmarks/proving.py [cryptobert xlmr] [--out proving.json]

One plan after another is proven from one empty cache: the first pays for the references, the
others find them there. Memory is the largest resident size of any process of a proof; one that
held a second copy of the weights would be seen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import standins
from budgets import GIB, run
from raw import write

from likewise.engines._devices import threads

FIRST, NEXT = 6.0, 2.0  # minutes: with the references, and once they are cached
LARGE = 12.0  # of XLM-R-large, with them
JUDGED = (0, 1, 3)  # exit statuses of a verdict: a proof that was refused is no quick one
MODELS = ("cryptobert", "xlmr")


def proofs(name: str) -> Iterator[dict[str, Any]]:
    """Yield what each proof of one model took."""
    folder, count = standins.make(name), threads()
    weights = max(f.stat().st_size for f in folder.glob("*.safetensors"))
    plans = ["torch/cpu/float32/b16", "onnx/cpu/float32/b16", "torch/cpu/bfloat16/b16"]
    with tempfile.TemporaryDirectory() as scratch:
        env = {**os.environ, "XDG_CACHE_HOME": scratch}
        for number, plan in enumerate(plans[:1] if name == "xlmr" else plans):
            began = time.perf_counter()
            asked = ["likewise", "prove", str(folder), "--on", f"{plan}/t{count}", "--quiet"]
            status, peak = run(asked, env)
            minutes = (time.perf_counter() - began) / 60
            limit = LARGE if name == "xlmr" else NEXT if number else FIRST
            most = 2 * weights + 2 * GIB  # float64 is twice float32
            yield {
                "model": name,
                "plan": f"{plan}/t{count}",
                "references": "cached" if number else "computed",
                "minutes": round(minutes, 2),
                "limit_minutes": limit,
                "peak_mib": peak >> 20,
                "limit_mib": most >> 20,
                "exit_status": status,
                "holds": status in JUDGED and minutes <= limit and peak <= most,
            }


def main() -> int:
    """Print one line a proof; 1 where one takes longer, or more memory, than it may."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--out", type=Path, help="a JSON file")
    asked = parser.parse_args()
    rows = []
    for name in asked.models:
        for row in proofs(name):
            rows.append(row)
            print(json.dumps(row), flush=True)
    write(rows, asked.out)
    return 0 if all(row["holds"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
