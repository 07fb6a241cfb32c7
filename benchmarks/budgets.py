"""Model folders in; how long `port` takes, the largest process, and the first answers, out.

    python benchmarks/budgets.py                  the demo's model
    python benchmarks/budgets.py --all            and the five full-size stand-ins (an hour)

Each port starts from an empty cache of runs, exports and timings (a temporary XDG_CACHE_HOME), so
that nothing is re-used. Memory is the largest resident size of any process of the port.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import standins
import trained

GIB = 2**30
MINUTES = {"minilm": 3, "cryptobert": 5, "personality": 5, "chinese": 5, "convnext": 5, "xlmr": 20}


def main() -> int:
    """Measure, print a table, write JSON; the exit status is 1 if a budget is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=[], help=f"of: {', '.join(MINUTES)}")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--out", type=Path, default=None, help="write the figures as JSON")
    options = parser.parse_args()
    names = list(MINUTES) if options.all else options.models or ["minilm"]
    figures = {"help": repeated(["likewise", "--help"])}
    for name in names:
        folder = trained.minilm() if name == "minilm" else standins.make(name)
        figures[name] = measure(name, folder)
        print(json.dumps({name: figures[name]}, indent=2))
    print(f"likewise --help: median {figures['help']['median_seconds']:.3f} s of 0.3")
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    good = [f["holds"] for f in figures.values() if "holds" in f]
    return 0 if all(good) and figures["help"]["median_seconds"] < 0.3 else 1


def measure(name: str, folder: Path) -> dict:
    """Port one folder from scratch, then time the first answer from what was ported."""
    weights = sum(f.stat().st_size for f in folder.glob("*.safetensors")) or sum(
        f.stat().st_size for f in folder.glob("*.bin")
    )
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "ported"
        env = {**os.environ, "XDG_CACHE_HOME": scratch}
        began = time.perf_counter()
        command = ["likewise", "port", str(folder), "-o", str(out), "--quiet"]
        status, peak = run(command, env)
        seconds = time.perf_counter() - began
        figures = {
            "seconds": seconds,
            "budget_seconds": MINUTES[name] * 60,
            "peak_bytes": peak,
            "budget_bytes": 3 * weights + 2 * GIB,
            "exit_status": status,
            "choice": json.loads((out / "report.json").read_text())["choice"]["plan"],
        }
        figures["holds"] = (
            status == 0 and seconds < figures["budget_seconds"] and peak < figures["budget_bytes"]
        )
        if name == "minilm":
            text = ["likewise", "run", str(out), "--text", "How late does the library close?"]
            figures["first_answer"] = repeated(text, budget=0.8)
            figures["holds"] &= figures["first_answer"]["median_seconds"] < 0.8
    return figures


def run(command: list[str], env: dict[str, str]) -> tuple[int, int]:
    """Run a command in a process that sees only its own descendants; return status and peak."""
    code = (
        "import resource,subprocess,sys;"
        "s=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL).returncode;"
        "print(s,resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss*1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *resolved(command)],
        env=env, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    status, peak = done.stdout.split()
    return int(status), int(peak)


def repeated(command: list[str], *, budget: float = 0.3, count: int = 9) -> dict:
    """Time a command from start to end, after one run that warms the page cache."""
    seconds = []
    for _ in range(count + 1):
        began = time.perf_counter()
        subprocess.run(resolved(command), stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - began)
    return {
        "seconds": seconds[1:],
        "median_seconds": statistics.median(seconds[1:]),
        "budget_seconds": budget,
        "n": count,
    }


def resolved(command: list[str]) -> list[str]:
    """Return the command with this environment's own likewise."""
    return [str(Path(sys.executable).parent / command[0]), *command[1:]]


if __name__ == "__main__":
    sys.exit(main())
