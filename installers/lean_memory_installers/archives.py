"""Archives that are the same bytes each time: sorted, of one date, of nobody."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path


def tar_gz(folder: Path, epoch: int) -> bytes:
    """Everything in `folder`, as a compressed archive whose files are of the time `epoch` (seconds)."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as into:
        for file in sorted(folder.rglob("*")):
            into.add(file, arcname=file.relative_to(folder).as_posix(), recursive=False, filter=lambda entry: _of_nobody(entry, epoch))
    return gz(plain.getvalue(), epoch)


def gz(held: bytes, epoch: int) -> bytes:
    """Bytes compressed. The wheels in it are compressed already, so that more effort would win nothing."""
    return gzip.compress(held, compresslevel=1, mtime=epoch)


def _of_nobody(entry: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry
