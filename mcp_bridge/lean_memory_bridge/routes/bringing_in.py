"""`/api/v1/uploads` and `/api/v1/bring-in`: what a person has elsewhere, sent by the page or lying on this computer, and how far it is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Path as InPath, Query, Request

from lean_memory.errors import InvalidInputError
from lean_memory_bridge.routes.parts import Parts, TheOwner, TheParts
from lean_memory_bridge.schemas.custody import BringInJob, BringInJobs, BringInRequest, Upload

router = APIRouter(prefix="/api/v1", tags=["custody"])

TheUpload = Annotated[str, InPath(pattern="^[0-9a-f]{16}$")]
TheJob = Annotated[str, InPath(max_length=64)]
_PIECE = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}


@router.post("/uploads", status_code=201)
async def begin(parts: TheParts, _: TheOwner) -> Upload:
    """Begin to send files that are to be brought in or imported."""
    return await asyncio.to_thread(parts.uploads.begin)


@router.put("/uploads/{upload}", openapi_extra=_PIECE)
async def put(
    *,
    upload: TheUpload,
    parts: TheParts,
    _: TheOwner,
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=2000, description="The file's name, with the folders above it.")],
    offset: Annotated[int, Query(ge=0, le=1 << 40, description="How much of the file was sent before.")] = 0,
    modified: Annotated[int | None, Query(ge=0, le=1 << 42, description="When it was changed last, in epoch milliseconds.")] = None,
) -> Upload:
    """Add a piece at the end of a file."""
    piece = await request.body()
    return await asyncio.to_thread(parts.uploads.put, upload, name, offset, piece, modified=modified)


@router.delete("/uploads/{upload}")
async def remove(upload: TheUpload, parts: TheParts, _: TheOwner) -> Upload:
    """Delete what was sent."""
    found = parts.uploads.look(upload)
    if parts.bringing_in.uses(upload) or parts.uploads.is_read(upload):
        raise InvalidInputError("It is being brought in; stop that first. Nothing was removed.")
    await asyncio.to_thread(parts.uploads.remove, upload)
    return found


@router.get("/bring-in")
async def jobs(parts: TheParts, _: TheOwner) -> BringInJobs:
    """What was brought in since the service began, and what of the older lean-memory lies in the data folder."""
    older = await asyncio.to_thread(parts.verbs.memory.older_files)
    return BringInJobs(jobs=tuple(_as_it_is(parts, job) for job in parts.bringing_in.every()), older=tuple(map(str, older)))


@router.post("/bring-in", status_code=202)
async def bring_in(asked: BringInRequest, parts: TheParts, _: TheOwner) -> BringInJob:
    """Begin to look at something, or with `apply` to bring it in; the job tells how far it is. What was sent goes once all of it is in."""
    upload = asked.upload
    return parts.bringing_in.begin(
        asked, source_of(parts, asked.path, upload), lambda: None if upload is None else parts.uploads.remove(upload)
    )


@router.get("/bring-in/{job}")
async def job(job: TheJob, parts: TheParts, _: TheOwner) -> BringInJob:
    """How far it is."""
    return _as_it_is(parts, parts.bringing_in.look(job))


@router.post("/bring-in/{job}/cancel")
async def cancel(job: TheJob, parts: TheParts, _: TheOwner) -> BringInJob:
    """Stop it; what was brought in stays, and the same request goes on from there."""
    return parts.bringing_in.cancel(job)


def _as_it_is(parts: Parts, job: BringInJob) -> BringInJob:
    """A job without an upload that is gone, which nobody can ask for again."""
    is_gone = job.upload is not None and not parts.uploads.holds(job.upload)
    return job.model_copy(update={"upload": None}) if is_gone else job


def source_of(parts: Parts, path: str | None, upload: str | None) -> Path:
    """What is to be read, by one of two names. Raises `InvalidInputError` for a path that may mean another place to the service, or everything."""
    if upload is not None:
        return parts.uploads.path(upload)
    given = whole_path(path or "")
    if given.parent == given:
        raise InvalidInputError("That is a whole disk; name the file or the folder that is meant.")
    return given


def whole_path(path: str) -> Path:
    """A path that means the same to whoever asks and to the service. Raises `InvalidInputError`."""
    if not Path(path).is_absolute():
        raise InvalidInputError(f"{path[:200]} is not a whole path, so the service cannot know which folder is meant. Begin with the root.")
    return Path(path)
