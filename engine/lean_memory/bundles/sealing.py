"""A stream under a passphrase: scrypt makes the key, AES-256-GCM seals chunks of 64 KiB, both from the library `cryptography`.

The header is `LEANMEM1`, the salt (16 bytes), the exponent of scrypt's cost (1) and the beginning of every nonce (7). A chunk's nonce ends with its
number (4 bytes) and whether it is the last (1), so that chunks cannot be left out, cut off or exchanged; the header is sealed in with each.
"""

from __future__ import annotations

import io
import os
import secrets
from typing import IO, TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from lean_memory.errors import DamagedFileError, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Buffer

MAGIC = b"LEANMEM1"
_SALT, _PREFIX, _TAG = 16, 7, 16
_HEADER = len(MAGIC) + _SALT + 1 + _PREFIX
_CHUNK = 1 << 16
_COST = 16
_MOST_COST = 18
"""A quarter of a gigabyte of memory; a bundle that asks for more was not written by this program."""


class SealingWriter(io.RawIOBase):
    """Seals what is written to it; whole only once it is closed. It cannot seek."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        self._file = file
        self._header = MAGIC + secrets.token_bytes(_SALT) + bytes([_COST]) + secrets.token_bytes(_PREFIX)
        self._cipher = _cipher(self._header, passphrase)
        self._buffer = bytearray()
        self._number = 0
        file.write(self._header)

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        given = bytes(data)
        self._buffer += given
        # The last chunk is known as such only at the end, so one is held back.
        while len(self._buffer) > _CHUNK:
            self._seal(bytes(self._buffer[:_CHUNK]), last=False)
            del self._buffer[:_CHUNK]
        return len(given)

    def close(self) -> None:
        if not self.closed:
            self._seal(bytes(self._buffer), last=True)
        super().close()

    def _seal(self, chunk: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._header, self._number, last=last), chunk, self._header))
        self._number += 1


class SealedReader(io.RawIOBase):
    """What was sealed, opened with the passphrase, chunk by chunk as it is asked for. It can seek.

    Raises `InvalidInputError` for another passphrase and `DamagedFileError` for anything that was changed since.
    """

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        self._file = file
        self._header = file.read(_HEADER)
        sealed = file.seek(0, os.SEEK_END) - _HEADER
        if len(self._header) < _HEADER or sealed < _TAG or self._header[len(MAGIC) + _SALT] > _MOST_COST:
            raise _damaged()
        self._chunks = max(1, -(-sealed // (_CHUNK + _TAG)))
        self._size = sealed - self._chunks * _TAG
        self._cipher = _cipher(self._header, passphrase)
        self._at = 0
        self._open: tuple[int, bytes] = (-1, b"")
        try:
            self._chunk(0)
        except DamagedFileError as error:
            raise InvalidInputError("That is not the bundle's passphrase, or its beginning is damaged. Nothing was changed.") from error

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Buffer, /) -> int:
        if self._at >= self._size:
            return 0
        number, start = divmod(self._at, _CHUNK)
        view = memoryview(buffer)
        part = self._chunk(number)[start : start + len(view)]
        view[: len(part)] = part
        self._at += len(part)
        return len(part)

    def _chunk(self, number: int) -> bytes:
        if self._open[0] != number:
            self._file.seek(_HEADER + number * (_CHUNK + _TAG))
            sealed = self._file.read(_CHUNK + _TAG)
            try:
                nonce = _nonce(self._header, number, last=number == self._chunks - 1)
                self._open = number, self._cipher.decrypt(nonce, sealed, self._header)
            except InvalidTag as error:
                raise _damaged() from error
        return self._open[1]


def _cipher(header: bytes, passphrase: str) -> AESGCM:
    salt, cost = header[len(MAGIC) : len(MAGIC) + _SALT], header[len(MAGIC) + _SALT]
    return AESGCM(Scrypt(salt=salt, length=32, n=1 << cost, r=8, p=1).derive(passphrase.encode()))


def _nonce(header: bytes, number: int, *, last: bool) -> bytes:
    return header[-_PREFIX:] + number.to_bytes(4, "big") + bytes([last])


def _damaged() -> DamagedFileError:
    return DamagedFileError("The bundle is damaged or not whole; nothing of it was used. Take another copy of it.")
