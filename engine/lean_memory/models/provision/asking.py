"""One request for a file or the rest of it: an answer that can be read, or what its absence means."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import IO, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from lean_memory.errors import ModelFetchError
from lean_memory.models.provision import wording

_TUNNEL = re.compile(r"Tunnel connection failed: (\d+)")
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")
_TRY_AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504))


class CutError(Exception):
    """This attempt ended; another may do. `why` is for people, `pause` the seconds that the server asked for."""

    def __init__(self, why: str, *, pause: float = 0.0, heard: bool = True) -> None:
        super().__init__(why)
        self.why, self.pause, self.heard = why, pause, heard


class AbsentError(Exception):
    """The hub does not have the file."""


class PastTheEndError(Exception):
    """More was asked for than there is; `length` is that of the file, where the hub says so."""

    def __init__(self, length: int | None) -> None:
        super().__init__()
        self.length = length


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A file, or the rest of it, about to come."""

    response: HTTPResponse
    heads: Sequence[Message]
    """What was said on the way: first by the hub, last by the place where the file lies."""
    start: int
    """The byte of the file with which it begins."""
    length: int | None
    """Of the whole file, where it is said."""

    def read(self, most: int) -> bytes:
        """What has come by now, `most` bytes of it; empty at the end. Raises `CutError`."""
        try:
            return self.response.read1(most)
        except (OSError, HTTPException) as error:
            raise CutError(_reason(error)) from error

    def said(self, name: str) -> str:
        """The first that any of them says under that name; empty where none does."""
        return _said(self.heads, name)

    def said_by_the_hub(self, name: str) -> str:
        """What the first of them says under that name."""
        return _said(self.heads[:1], name)


def ask(address: str, *, what: str, host: str, have: int, stall: float) -> Answer:
    """An answer from which to read what lies behind the first `have` bytes of `what`, or all of it.

    Raises `CutError`, `AbsentError`, `PastTheEndError`, and `ModelFetchError` for what another attempt will not mend.
    """
    redirects = _Redirects()
    headers = {"User-Agent": "lean-memory", "Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    try:
        response = cast("HTTPResponse", build_opener(redirects).open(Request(address, headers=headers), timeout=stall))
    except HTTPError as refusal:
        with refusal:
            raise _judged(refusal, what, host, sent_on=bool(redirects.heads)) from refusal
    except URLError as error:
        raise _judged_failure(error.reason if isinstance(error.reason, OSError) else error, what, host) from error
    except (OSError, HTTPException) as error:
        raise _judged_failure(error, what, host) from error
    start, length = _extent(response)
    return Answer(response=response, heads=(*redirects.heads, response.headers), start=start, length=length)


def _reason(error: Exception) -> str:
    """Why nothing comes, in a few words."""
    match error:
        case socket.gaierror():
            return "its name is not known here"
        case TimeoutError():
            return "it does not answer in time"
        case ConnectionRefusedError():
            return "nothing listens there"
        case ConnectionError():
            return "the connection broke"
        case OSError():
            return error.strerror or type(error).__name__
        case _:
            return type(error).__name__


class _Redirects(HTTPRedirectHandler):
    """Follows the hub to where its files lie, remembers what it said, and never goes from a place with encryption to one without."""

    def __init__(self) -> None:
        self.heads: list[Message] = []

    def redirect_request(  # noqa: PLR0917 - the base class's
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        here, there = urlsplit(req.full_url), urlsplit(newurl)
        if here.scheme == "https" and there.scheme != "https":
            raise ModelFetchError(wording.weaker_address(here.netloc, there.netloc))
        self.heads.append(headers)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _judged(refusal: HTTPError, what: str, host: str, *, sent_on: bool) -> Exception:
    """What an answer that is no file means."""
    status = refusal.code
    if status in (404, 410):
        return AbsentError()
    if status == 416:
        found = _RANGE.fullmatch(refusal.headers.get("Content-Range") or "")
        return PastTheEndError(int(found[2]) if found and found[2].isdecimal() else None)
    # An address to which the hub sends us on is good for some time only; the next attempt gets a new one.
    if status in _TRY_AGAIN or (status == 403 and sent_on):
        return CutError(f"it answers {status}", pause=_seconds(refusal.headers.get("Retry-After")))
    if status == 407:
        return ModelFetchError(wording.proxy_refused(host))
    if status in (401, 403, 451):
        return ModelFetchError(wording.refused(what, host, status))
    return ModelFetchError(wording.odd_status(what, host, status))


def _judged_failure(error: Exception, what: str, host: str) -> Exception:
    """What no answer at all means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return ModelFetchError(wording.untrusted(host))
    tunnel = _TUNNEL.search(str(error))
    if tunnel and tunnel[1] == "407":
        return ModelFetchError(wording.proxy_refused(host))
    if tunnel and int(tunnel[1]) < 500:
        return ModelFetchError(wording.refused(what, host, int(tunnel[1])))
    return CutError(_reason(error), heard=False)


def _extent(response: HTTPResponse) -> tuple[int, int | None]:
    """Where in the file the answer starts, and how long the whole file is."""
    if response.status == 206:
        found = _RANGE.fullmatch(response.headers.get("Content-Range") or "")
        if not found or not found[1]:
            raise CutError("it does not say which piece it sends")
        return int(found[1]), int(found[2]) if found[2].isdecimal() else None
    length = response.headers.get("Content-Length") or ""
    return 0, int(length) if length.isdecimal() else None


def _said(heads: Sequence[Message], name: str) -> str:
    return next((str(head[name]).strip() for head in heads if head[name] is not None), "")


def _seconds(asked: str | None) -> float:
    return float(asked) if asked and asked.strip().isdecimal() else 0.0
