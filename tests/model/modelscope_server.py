"""A folder of model folders in; a server on loopback that plays ModelScope with them, out.

It answers what the client asks to fetch a model: ``/api/v1/models/ORG/NAME/repo/files`` with
the list of its files, and ``…/repo?FilePath=…`` with one of them, with ranges. Of any other
path it says that it is not there, as of a model that it does not have.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from hub_server import COMMIT, Hub, _Handler

__all__ = ["ModelScope", "serve"]

_PREFIX = "/api/v1/models/"


class ModelScope(Hub):
    """What the server has, what it was asked for, and what goes wrong."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.revisions = {"master"}
        self.down: set[str] = set()  # files that are answered with a server's error

    def fetched(self) -> list[str]:
        """Return the files that were asked for, each as often as it was, with its range."""
        return [line.removeprefix("file ") for line in self.asked if line.startswith("file ")]


@contextmanager
def serve(root: Path) -> Iterator[ModelScope]:
    """Serve root/ORG/NAME as ORG/NAME, at the revision master."""
    hub = ModelScope(root)

    class Answers(_Answers):
        pass

    Answers.hub = Answers.modelscope = hub
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


class _Answers(_Handler):
    modelscope: ModelScope

    def _answer(self, *, body: bool) -> None:
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        name, _, endpoint = url.path.removeprefix(_PREFIX).partition("/repo")
        wanted, file = self.headers.get("Range", ""), query.get("FilePath", "")
        what = f"file {file} {wanted}" if file else f"{self.command} {url.path}"
        self.hub.asked.append(what.strip())
        there = url.path.startswith(_PREFIX) and (self.hub.root / name).is_dir()
        if not there or query.get("Revision") not in self.modelscope.revisions:
            self._refused(404, 10010205001, "record not found")
        elif endpoint == "/files":
            self._list(self.hub.root / name)
        elif file in self.modelscope.down:
            self._refused(500, 10010200001, "internal error")
        else:
            self._file(name, file, wanted, body=body)

    def _list(self, folder: Path) -> None:
        entries = [_entry(folder, path) for path in sorted(folder.rglob("*"))]
        self._say(200, {"Code": 200, "Data": {"Files": entries}, "Success": True})

    def _refused(self, status: int, code: int, message: str) -> None:
        self._say(status, {"Code": code, "Message": message, "Success": False})

    def _say(self, status: int, content: dict[str, object]) -> None:
        body = json.dumps({"RequestId": "0", **content}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _entry(folder: Path, path: Path) -> dict[str, object]:
    """Return what is listed of a file or folder of a model."""
    said = {
        "Name": path.name,
        "Path": path.relative_to(folder).as_posix(),
        "Revision": COMMIT,
        "CommittedDate": 1_700_000_000,
    }
    if path.is_dir():
        return {**said, "Type": "tree", "Size": 0, "Sha256": ""}
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {**said, "Type": "blob", "Size": len(content), "Sha256": digest}
