"""`/`, `/static/…` and `/api/v1/window/…`: the page of the window, and how a browser is let in.

The page and its files hold nothing of the person's and are served to anybody who asks this service by its name. Whatever the page shows it
fetches through the other routes, with the pass that it got for a one-time code.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from lean_memory_bridge.refusals import NotAllowedError
from lean_memory_bridge.routes.parts import TheOwner, TheParts
from lean_memory_bridge.schemas import WindowCode, WindowEntry, WindowKey, WindowLeft
from lean_memory_bridge.window import CODE_LIFE, PASS_LIFE, cookie_name
from lean_memory_webui import STATIC

router = APIRouter(tags=["window"])

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".toml": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
"""Named here, as what a system thinks of `.js` depends on what else is installed on it."""
_IMPORT_MAP = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)
_HARDENED: Mapping[str, str] = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@router.get("/", include_in_schema=False)
def page() -> Response:
    """The page itself."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return Response(text, media_type="text/html", headers={**_HARDENED, "Content-Security-Policy": policy_of(text)})


@router.get("/static/{file:path}", include_in_schema=False)
def static(file: str) -> Response:
    """A file of the page."""
    found = STATIC / file
    if ".." in file.split("/") or "\\" in file or "\0" in file or found.suffix not in _TYPES or not found.is_file():
        raise HTTPException(404, "The page has no such file.")
    return FileResponse(found, media_type=_TYPES[found.suffix], headers={**_HARDENED, "Content-Security-Policy": "default-src 'none'"})


@router.post("/api/v1/window/code")
async def invite(parts: TheParts, _: TheOwner) -> WindowCode:
    """A code with which one browser can let itself in, once and soon."""
    return WindowCode(code=parts.window.invite(), seconds=CODE_LIFE)


@router.post("/api/v1/window/session")
async def enter(asked: WindowEntry, parts: TheParts, response: Response) -> WindowKey:
    """Exchange a code for a cookie and the key that goes with it."""
    given = parts.window.admit(asked.code)
    if given is None:
        raise NotAllowedError("This link was used before or is too old; open the memory anew from the tray or with `lean-memory open`.")
    name = cookie_name(parts.runtime.port)
    response.set_cookie(name, given.cookie, max_age=PASS_LIFE, path="/api/", httponly=True, samesite="strict")
    response.headers["cache-control"] = "no-store"
    return WindowKey(key=given.key)


@router.delete("/api/v1/window/session")
async def leave(parts: TheParts, _: TheOwner, response: Response) -> WindowLeft:
    """Take the cookie out of this browser."""
    response.delete_cookie(cookie_name(parts.runtime.port), path="/api/", httponly=True, samesite="strict")
    return WindowLeft(left=True)


def policy_of(text: str) -> str:
    """The Content-Security-Policy of a page: scripts are files of ours and the one import map in `text`; nothing else is loaded or sent."""
    found = _IMPORT_MAP.search(text)
    digest = base64.b64encode(hashlib.sha256((found.group(1) if found else "").encode()).digest()).decode()
    allowed = {
        "default-src": "'none'",
        "script-src": f"'self' 'sha256-{digest}'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())
