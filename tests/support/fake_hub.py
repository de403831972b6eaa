"""A model hub on this machine, with the hub's addresses and answers, and every way in which it, its storage or a proxy may fail.

Large files are answered with a pointer to a second server, as the hub points to its storage. The real `huggingface_hub` client downloads
from it, which a test of the models with torch checks.
"""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

REVISION = "0123456789abcdef0123456789abcdef01234567"
LARGE = 10_000
"""Files from this length on lie in the storage."""
_PIECE = 16_384


@dataclass(kw_only=True)
class Faults:
    """What goes wrong, until it is set back. A file is named by its path, and the empty path is every file."""

    status: dict[str, int] = field(default_factory=dict[str, int])
    retry_after: int | None = None
    times: int | None = None
    """How often `status` is answered before all is well; `None` is for ever."""
    cut_after: int | None = None
    """Close the connection of a large file after so many bytes of an answer."""
    corrupt: frozenset[str] = frozenset()
    ignores_ranges: bool = False
    rate: int | None = None
    """Bytes a second, of large files."""
    stalls_after: int | None = None
    """Say nothing more after so many bytes of an answer, until the server closes."""
    web_page: bool = False
    """A network that wants a login answers everything with a page."""
    revision: str = REVISION
    names_content: bool = True
    """Whether tags and lengths of the content are told, as the hub does and a simple mirror does not."""
    proxy_wants_password: bool = False
    relays: bool = False
    """Small files are answered with a pointer within the hub."""
    storage: str | None = None
    """Where large files are said to lie, in place of the second server."""


@dataclass(kw_only=True)
class Asked:
    """One request for a file, and how much was sent of it by now."""

    path: str
    begin: int | None
    """The start of the range that was asked for."""
    status: int
    sent: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(kw_only=True)
class FakeHub:
    """A running hub; `repositories` maps `owner/name` to files."""

    endpoint: str
    storage: str
    repositories: dict[str, dict[str, bytes]]
    faults: Faults = field(default_factory=Faults)
    log: list[Asked] = field(default_factory=list[Asked])
    closing: threading.Event = field(default_factory=threading.Event)
    on_sent: Callable[[str, int], None] = lambda path, sent: None
    """Called after each piece of a large file with its path and how much of this answer was sent."""

    def asked_for(self, path: str) -> list[Asked]:
        """The answers that held something of a file, in order."""
        return [asked for asked in self.log if asked.path == path and asked.sent]


def sha256(content: bytes) -> str:
    """As published beside a large file."""
    return hashlib.sha256(content).hexdigest()


def git_sha1(content: bytes) -> str:
    """As git names a small file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@contextmanager
def serving(repositories: Mapping[str, Mapping[str, bytes]], *, certificate: Path | None = None) -> Iterator[FakeHub]:
    """A hub and its storage on free ports of 127.0.0.1 while the block runs; with a certificate and its key in one file they speak TLS."""
    hub = FakeHub(endpoint="", storage="", repositories={name: dict(files) for name, files in repositories.items()})
    front, back = (ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub)) for _ in range(2))
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        for server in (front, back):
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "https"
    hub.endpoint = f"{scheme}://127.0.0.1:{front.server_address[1]}"
    hub.storage = f"{scheme}://127.0.0.1:{back.server_address[1]}"
    threads = [threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}) for server in (front, back)]
    for server in (front, back):
        server.daemon_threads = True
        server.handle_error = lambda request, client_address: None  # type: ignore[method-assign] - a client may hang up
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        for server, thread in zip((front, back), threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def log_message(self, format: str, *args: Sequence[object]) -> None:  # noqa: A002 - the name is the base class's
            """Nothing is logged."""

        def _answer(self, *, with_body: bool) -> None:
            with suppress(ConnectionError):
                _Exchange(hub, self, with_body=with_body).answer()

    return Handler


class _Exchange:
    """One request in hand."""

    def __init__(self, hub: FakeHub, handler: BaseHTTPRequestHandler, *, with_body: bool) -> None:
        self._hub, self._handler, self._with_body = hub, handler, with_body
        # A client that asks us as its proxy gives the whole address.
        self._parts = unquote(urlsplit(handler.path).path).strip("/").split("/")

    def answer(self) -> None:
        """Whatever the path asks for."""
        match self._parts:
            case _ if self._hub.faults.proxy_wants_password:
                self._say(407, b"")
            case _ if self._hub.faults.web_page:
                self._say(200, b"<html>Please log in.</html>", {"Content-Type": "text/html; charset=utf-8"})
            case ["api", "models", owner, name, *rest]:
                self._describe(f"{owner}/{name}", listed=rest[:1] == ["tree"])
            case [owner, name, "resolve", _, *path]:
                self._resolve(f"{owner}/{name}", "/".join(path))
            case ["relayed" | "storage", owner, name, *path]:
                self._send(self._hub.repositories[f"{owner}/{name}"], "/".join(path), {})
            case _:
                self._say(404, b"{}")

    def _describe(self, repository: str, *, listed: bool) -> None:
        files = self._hub.repositories.get(repository)
        if files is None:
            self._say(404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})
            return
        if listed:
            told: object = [{"type": "file", "path": path, "size": len(content), **_ids(content)} for path, content in files.items()]
        else:
            siblings = [{"rfilename": path, "size": len(content), **_ids(content)} for path, content in files.items()]
            told = {"_id": "1", "id": repository, "modelId": repository, "sha": self._hub.faults.revision, "private": False, "gated": False,
                    "disabled": False, "downloads": 0, "likes": 0, "tags": [], "siblings": siblings,
                    "createdAt": "2026-01-01T00:00:00.000Z", "lastModified": "2026-01-01T00:00:00.000Z"}  # fmt: skip
        self._say(200, json.dumps(told).encode(), {"Content-Type": "application/json"})

    def _resolve(self, repository: str, path: str) -> None:
        faults = self._hub.faults
        status = faults.status.get(path, faults.status.get(""))
        if status is not None and faults.times != 0:
            faults.times = None if faults.times is None else faults.times - 1
            self._refuse(path, status)
            return
        content = self._hub.repositories.get(repository, {}).get(path)
        if content is None:
            self._refuse(path, 404)
            return
        told = {"X-Repo-Commit": faults.revision} if faults.names_content else {}
        if len(content) < LARGE:
            tag = {"ETag": f'"{git_sha1(content)}"'} if faults.names_content else {}
            if faults.relays:
                self._say(307, b"", {**told, **tag, "Location": f"/relayed/{repository}/{path}"})
                return
            self._send(self._hub.repositories[repository], path, {**told, **tag})
            return
        linked = {"X-Linked-ETag": f'"{sha256(content)}"', "X-Linked-Size": str(len(content))} if faults.names_content else {}
        place = faults.storage or f"{self._hub.storage}/storage"
        self._say(302, b"", {**told, **linked, "Location": f"{place}/{repository}/{path}"})

    def _refuse(self, path: str, status: int) -> None:
        code = {404: "EntryNotFound", 403: "GatedRepo"}.get(status)
        headers = {"X-Error-Code": code} if code else {}
        if self._hub.faults.retry_after is not None:
            headers["Retry-After"] = str(self._hub.faults.retry_after)
        self._hub.log.append(Asked(path=path, begin=self._begin(), status=status))
        self._say(status, b'{"error": "injected"}', headers)

    def _begin(self) -> int | None:
        asked = self._handler.headers.get("Range")
        return int(asked.removeprefix("bytes=").partition("-")[0]) if asked else None

    def _send(self, files: Mapping[str, bytes], path: str, headers: Mapping[str, str]) -> None:
        faults, content = self._hub.faults, files[path]
        begin = None if faults.ignores_ranges else self._begin()
        if begin is not None and begin >= len(content):
            self._say(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        if path in faults.corrupt or "" in faults.corrupt:
            content = content[:-1] + bytes([content[-1] ^ 1])
        body = content[begin or 0 :]
        told = {"Content-Type": "application/octet-stream", "Accept-Ranges": "bytes", "Content-Length": str(len(body)), **headers}
        if begin is not None:
            told["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        status = 206 if begin is not None else 200
        asked = Asked(path=path, begin=self._begin(), status=status, headers=dict(self._handler.headers.items()))
        self._hub.log.append(asked)
        self._start(status, told)
        if self._with_body:
            self._stream(body, asked)

    def _stream(self, body: bytes, asked: Asked) -> None:
        faults = self._hub.faults
        stop = faults.cut_after if len(body) >= LARGE or asked.begin else None
        while asked.sent < len(body):
            if stop is not None and asked.sent >= stop:
                self._handler.close_connection = True
                return
            if faults.stalls_after is not None and asked.sent >= faults.stalls_after:
                self._hub.closing.wait(60)
                return
            piece = body[asked.sent : asked.sent + _PIECE]
            asked.sent += len(piece)
            self._handler.wfile.write(piece)
            self._hub.on_sent(asked.path, asked.sent)
            if faults.rate and len(body) >= LARGE and self._hub.closing.wait(len(piece) / faults.rate):
                return

    def _say(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._start(status, {"Content-Length": str(len(body)), **(headers or {})})
        if self._with_body:
            self._handler.wfile.write(body)

    def _start(self, status: int, headers: Mapping[str, str]) -> None:
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()


def _ids(content: bytes) -> dict[str, object]:
    large = {"lfs": {"oid": sha256(content), "sha256": sha256(content), "size": len(content), "pointerSize": 134}}
    return {"oid": git_sha1(content), "blobId": git_sha1(content), **(large if len(content) >= LARGE else {})}
