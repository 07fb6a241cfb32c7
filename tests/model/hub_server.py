"""A folder of model folders in; a server on loopback that plays a hub with them, out.

It speaks as much of the Hugging Face protocol as its client asks for: a model's facts, its tree,
and its files, by commit, with ranges.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["COMMIT", "Hub", "serve"]

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """What the server has, and what it was asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[str] = []  # METHOD path [range]
        self.break_after: int | None = None  # bytes of a body after which the line goes dead
        self.url = ""


@contextmanager
def serve(root: Path) -> Iterator[Hub]:
    """Serve root/ORG/NAME as ORG/NAME."""
    hub = Hub(root)

    class Answers(_Handler):
        pass

    Answers.hub = hub
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        wanted = self.headers.get("Range", "")
        self.hub.asked.append(f"{self.command} {path} {wanted}".strip())
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"] and len(parts) >= 4:
            self._facts("/".join(parts[2:4]), parts[4:])
        elif "resolve" in parts:
            place = parts.index("resolve")
            self._file("/".join(parts[:place]), "/".join(parts[place + 2 :]), wanted, body=body)
        else:
            self._missing("EntryNotFound")

    def _facts(self, name: str, rest: list[str]) -> None:
        folder = self.hub.root / name
        if not folder.is_dir():
            self._missing("RepoNotFound")
            return
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        names = [p.relative_to(folder).as_posix() for p in files]
        if rest[:1] == ["tree"]:
            tree = [
                {"type": "file", "path": n, "size": f.stat().st_size, "oid": _tag(f)}
                for n, f in zip(names, files, strict=True)
            ]
            self._json(tree)
        else:
            siblings = [{"rfilename": n} for n in names]
            self._json({"id": name, "sha": COMMIT, "siblings": siblings, "private": False})

    def _file(self, name: str, file: str, wanted: str, *, body: bool) -> None:
        path = self.hub.root / name / file
        if not path.is_file():
            self._missing("EntryNotFound")
            return
        content = path.read_bytes()
        start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted else 0
        self.send_response(206 if wanted else 200)
        if wanted:
            span = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", span)
        self.send_header("ETag", f'"{_tag(path)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(content) - start))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if not body:
            return
        limit = self.hub.break_after
        if limit is not None and len(content) - start > limit:
            self.wfile.write(content[start : start + limit])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
        else:
            self.wfile.write(content[start:])

    def _json(self, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _missing(self, code: str) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _tag(path: Path) -> str:
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()
