"""A 20 MB line and a small picture that declares 400 megapixels, in; time and peak memory, out.

    python benchmarks/extremes.py        each in a fresh process, through `likewise run`

The models are tiny, so that what is measured is reading, tokenising and decoding.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import tiny

MEGABYTE = 10**6
LINES = {
    "words": b"the price is good and bad " * (20 * MEGABYTE // 26),
    "no spaces": b"abcdefgh" * (20 * MEGABYTE // 8),
    "one letter": b"a" * (20 * MEGABYTE),
    "Chinese": "天气很好".encode() * (20 * MEGABYTE // 12),
    "spaces": b" " * (20 * MEGABYTE),
}


def main() -> int:
    """Print one line of JSON for each."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        for builder in ("bert_classifier", "roberta_classifier", "xlmr_classifier"):
            folder = getattr(tiny, builder)(home / builder)
            report(builder, "a word", ["--text", "good"], folder)
            for name, line in LINES.items():
                file = home / "line.txt"
                file.write_bytes(line)
                report(builder, f"20 MB of {name}", ["--file", str(file)], folder)
        folder = tiny.timm_classifier(home / "timm")
        small = home / "small.png"
        small.write_bytes(png(40, 40))
        report("timm_classifier", "a 40x40 picture", ["--image", str(small)], folder)
        bomb = home / "bomb.png"
        bomb.write_bytes(png(20_000, 20_000, rows=60))
        what = f"{bomb.stat().st_size} bytes that declare 400 megapixels"
        report("timm_classifier", what, ["--image", str(bomb)], folder)
    return 0


def png(width: int, height: int, rows: int | None = None) -> bytes:
    """Return a grey PNG; with ``rows``, only so many of its lines are there."""
    line = b"\0" + bytes(width)
    body = zlib.compress(line * (rows or height), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def report(builder: str, what: str, items: list[str], folder: Path) -> None:
    """Run once in a fresh process; print seconds, peak and what was answered."""
    code = (
        "import resource,subprocess,sys;"
        "d=subprocess.run(sys.argv[1:],capture_output=True,text=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss*1024);"
        "print(d.returncode);print(d.stdout[-2000:].strip().splitlines()[-1:]);"
        "print(d.stderr.strip().splitlines()[-3:])"
    )
    tool = str(Path(sys.executable).parent / "likewise")
    command = [tool, "run", str(folder), *items, "--top", "1", "--json"]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *command], stdout=subprocess.PIPE, text=True, check=True
    )
    seconds = time.perf_counter() - began
    peak, status, answer, said = done.stdout.splitlines()[:4]
    figures = {
        "model": builder, "input": what, "seconds": round(seconds, 2),
        "peak_mib": round(int(peak) / 2**20), "exit": int(status),
        "answer": answer[-160:], "said": said[:160],
    }  # fmt: skip
    print(json.dumps(figures, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    sys.exit(main())
