"""What goes wrong, as HTTP: a status, the kind of error, and a sentence for a person."""

from __future__ import annotations

import errno
import logging
from collections.abc import Sequence
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from lean_memory.errors import (
    ClosedError,
    ForeignFileError,
    InvalidInputError,
    LeanMemoryError,
    LeaseHeldError,
    ModelFetchError,
    NewerSchemaError,
    NotFoundError,
    StorageFullError,
)
from lean_memory_bridge import arguments
from lean_memory_bridge.refusals import NotAllowedError, PausedError, TooManyCallsError
from lean_memory_bridge.schemas import Problem

log = logging.getLogger(__name__)

STATUSES: tuple[tuple[type[LeanMemoryError], int], ...] = (
    (InvalidInputError, 422),
    (NotFoundError, 404),
    (LeaseHeldError, 409),
    (ModelFetchError, 409),
    (ForeignFileError, 409),
    (NewerSchemaError, 409),
    (PausedError, 403),
    (NotAllowedError, 403),
    (TooManyCallsError, 429),
    (StorageFullError, 507),
    (ClosedError, 503),
    (LeanMemoryError, 503),
)
"""The first that fits."""

DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": description}
    for status, description in (
        (400, "A token in the address, or a client's name that cannot be one"),
        (401, "No token, or a wrong one"),
        (403, "A page of another origin, a paused client, or something only the person's own programs may do"),
        (404, "No such namespace, fact, episode, entity or client"),
        (409, "Maintenance holds the namespace, the file is not ours to write, or the models are not as that needs them"),
        (421, "The Host header names another machine"),
        (422, "What was given cannot be used; nothing was written"),
        (429, "Too many calls; `Retry-After` says when to try again"),
    )
}


def register(api: FastAPI) -> None:
    """Let an app answer with problems."""
    api.add_exception_handler(LeanMemoryError, _on_error)
    api.add_exception_handler(OSError, _on_refusal)
    api.add_exception_handler(RequestValidationError, _on_bad_request)
    api.add_exception_handler(HTTPException, _on_http_error)


def status_of(error: LeanMemoryError) -> int:
    """The HTTP status of an error."""
    return next(status for kind, status in STATUSES if isinstance(error, kind))


async def _on_error(_: Request, error: Exception) -> JSONResponse:
    known = cast("LeanMemoryError", error)
    headers = {"retry-after": str(max(1, round(known.seconds)))} if isinstance(known, TooManyCallsError) else None
    return _problem(status_of(known), type(known).__name__, str(known), headers)


async def _on_refusal(_: Request, error: Exception) -> JSONResponse:
    """What the operating system refused, as a full disk; where it was is no client's business."""
    known = cast("OSError", error)
    log.warning("The operating system refused: %s", known.strerror)
    if known.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _problem(
            507, "StorageFullError", "The disk of the data folder is full, so this was not done. Free some space and try again."
        )
    said = f"The operating system refused this ({known.strerror or 'no reason given'}), so it was not done. `lean-memory doctor` looks for the cause."
    return _problem(500, "OSError", said)


async def _on_bad_request(_: Request, error: Exception) -> JSONResponse:
    """Says which field is wrong and how, never what it held."""
    found = cast("Sequence[dict[str, Any]]", cast("RequestValidationError", error).errors())
    return _problem(422, "InvalidInputError", arguments.sentence(found, placed=True))


async def _on_http_error(_: Request, error: Exception) -> JSONResponse:
    known = cast("HTTPException", error)
    return _problem(known.status_code, "HTTPException", str(known.detail), known.headers)


def _problem(status: int, error: str, message: str, headers: Any = None) -> JSONResponse:
    # What a person typed may hold half a character, which has no UTF-8 form.
    clean = message.encode("utf-8", "replace").decode()
    return JSONResponse(Problem(error=error, message=clean).model_dump(), status_code=status, headers=headers)
