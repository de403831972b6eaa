"""The models of the worker as the engine asks for them: each call has a time limit, and none waits for a model that is not there."""

from __future__ import annotations

import contextlib
import hmac
import http.client
import json
import os
import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.forking import Mutex
from lean_memory.models.manifest import ModelSpec, Role
from lean_memory.models.ports import UNMEASURED, CosineThresholds, FoundEntity, FoundRelation, Markup, Vectors
from lean_memory.models.rest import Rest
from lean_memory.models.timed import TimedConnection
from lean_memory.models.worker_file import HOST, NOBODY, Roles, State, Worker, proof, read_worker, roles_of

QUESTION_SECONDS = 1.0
"""How long a search may wait for the vector of its question; without it the built-in one's is used."""
BATCH = 32
BATCH_SECONDS = 120.0
"""How long the worker may take for `BATCH` stored texts: nobody waits for them, and a slow machine needs a minute."""
READING_SECONDS = 120.0

_GREETING = 1.0
_LOOK = 2.0
_LONGEST_PROOF = 65_536
_OFF_UNIT = 0.02
"""By how much a vector's length may differ from one: weights of 16 bits round."""
_SPARE = 4
"""Connections that are kept for the next call."""


class Link:
    """The way to the worker of a data root. Thread-safe; a forked child makes connections of its own.

    What was last seen of the models is kept: a call to one that was not ready then fails at once, so somebody has to `look` now and then,
    and before the first call. A call that finds the worker gone or mute marks all of them as gone until the next look.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._states: Roles = NOBODY
        self._connections: deque[_Connection] = deque()
        self._wanted: set[Role] = set()
        self._lock = Mutex()

    @property
    def states(self) -> Roles:
        """How far each model was when somebody last looked."""
        return self._states

    def look(self) -> Roles:
        """How far each model is now; all are absent where no worker answers. Sends for those that somebody missed. Takes at most some seconds."""
        with self._lock.held:
            wanted, self._wanted = self._wanted, set()
        try:
            for role in wanted:
                self._ask("POST", "/warm", {"role": role}, _LOOK)
            self._states = roles_of(json.loads(self._ask("GET", "/state", None, _LOOK)))
        except (ModelError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._states = NOBODY
        return self._states

    def call(self, role: Role, path: str, asked: Mapping[str, object], seconds: float) -> bytes:
        """What the worker answers. Raises `ModelUnavailableError` where it does not within `seconds`, and `ModelError` for a refusal."""
        known = self._states[role]
        if known.state is not State.READY:
            if known.state is State.IDLE:
                with self._lock.held:
                    self._wanted.add(role)
            raise ModelUnavailableError(known.message or f"The {role} is not there yet ({known.state}).")
        # The worker gives up a little earlier than its caller, so that its refusal arrives.
        return self._ask("POST", path, {**asked, "seconds": 0.9 * seconds}, seconds)

    def close(self) -> None:
        """Close what is open; it may be used again."""
        while self._connections:
            with contextlib.suppress(IndexError):
                self._connections.pop().http.close()

    def _ask(self, method: str, path: str, asked: object, seconds: float) -> bytes:
        ends = monotonic() + seconds
        body = b"" if asked is None else json.dumps(asked).encode()
        try:
            status, content = self._sent(method, path, body, ends)
        except (OSError, http.client.HTTPException) as error:
            self._states = NOBODY
            raise ModelUnavailableError("The worker, which holds the models, does not answer.") from error
        if status >= http.client.BAD_REQUEST:
            raise _refusal(content)
        return content

    def _sent(self, method: str, path: str, body: bytes, ends: float) -> tuple[int, bytes]:
        """The answer over a kept connection, or over a new one where that was closed meanwhile: every call may be made twice."""
        kept = self._spare()
        if kept is not None:
            with contextlib.suppress(ConnectionError, http.client.RemoteDisconnected):
                return self._over(kept, method, path, body, ends)
        return self._over(_greeted(self._root, min(monotonic() + _GREETING, ends)), method, path, body, ends)

    def _over(self, connection: _Connection, method: str, path: str, body: bytes, ends: float) -> tuple[int, bytes]:
        """The answer over this connection, which is kept for the next call if all goes well."""
        try:
            answer = connection.send(method, path, body, ends)
        except (OSError, http.client.HTTPException):
            connection.http.close()
            raise
        if len(self._connections) < _SPARE:
            self._connections.append(connection)
        else:
            connection.http.close()
        return answer

    def _spare(self) -> _Connection | None:
        worker = read_worker(self._root)
        while self._connections:
            with contextlib.suppress(IndexError):
                kept = self._connections.pop()
                if worker is not None and kept.pid == os.getpid() and kept.worker.instance == worker.instance:
                    return kept
                kept.http.close()
        return None


class _Connection:
    """A connection to one instance of the worker, made by one process."""

    def __init__(self, worker: Worker) -> None:
        self.worker, self.pid = worker, os.getpid()
        self.http = TimedConnection(HOST, worker.port)

    def send(self, method: str, path: str, body: bytes, ends: float) -> tuple[int, bytes]:
        """The status and the content of the answer, if it comes in time. Raises `OSError` or `HTTPException`."""
        self.http.ends = ends
        return self.http.ask(method, path, body, {"Authorization": f"Bearer {self.worker.secret}", "Content-Type": "application/json"})


def _greeted(root: Path, ends: float) -> _Connection:
    """A new connection to the worker, which has proved that it wrote the file. Raises `ModelUnavailableError`, `OSError` or `HTTPException`."""
    worker = read_worker(root)
    if worker is None:
        raise ModelUnavailableError("The worker, which holds the models, does not run.")
    made = _Connection(worker)
    challenge = secrets.token_hex(16)
    try:
        made.http.ends = ends
        _, content = made.http.ask("GET", f"/hello?challenge={challenge}", b"", {}, most=_LONGEST_PROOF)
        proved = str(json.loads(content)["proof"]).encode()
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        made.http.close()
        raise http.client.HTTPException("not a worker") from error
    except (OSError, http.client.HTTPException):
        made.http.close()
        raise
    if not hmac.compare_digest(proved, proof(worker.secret, challenge, worker.instance, worker.port).encode()):
        made.http.close()
        raise http.client.HTTPException("not the worker of this data root")
    return made


class RemoteEmbedder:
    """The worker's embedder; an `Embedder` whose calls raise `ModelUnavailableError` where it is not there in time.

    Questions, for which somebody waits, are kept from one that is too slow for them for as long as its `rest` says.
    """

    def __init__(self, link: Link, spec: ModelSpec, *, question_seconds: float = QUESTION_SECONDS, rest: Rest | None = None) -> None:
        self._link, self._spec, self._question_seconds, self._rest = link, spec, question_seconds, rest or Rest()

    @property
    def identity(self) -> ModelIdentity:
        return self._spec.identity

    @property
    def thresholds(self) -> CosineThresholds:
        return self._spec.thresholds or UNMEASURED

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for stored texts, in order; shape (len(texts), dims)."""
        parts = [self._vectors(texts[start : start + BATCH], BATCH_SECONDS) for start in range(0, len(texts), BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, self._spec.dims), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector for a question; shape (dims,)."""
        with self._rest.watched(self._question_seconds):
            return self._vectors([text], self._question_seconds, is_question=True)[0]

    def _vectors(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Vectors:
        asked = {**_named(self._spec), "texts": [*texts], "is_question": is_question}
        made = _numbers(self._link.call(Role.EMBEDDER, "/embed", asked, seconds), len(texts), self._spec.dims)
        # Summed up in wider numbers, as squares of what is no share of a unit do not fit.
        if (abs(np.linalg.norm(made.astype(np.float64), axis=1) - 1.0) > _OFF_UNIT).any():
            raise ModelError("The worker answered with vectors that are not of unit length.")
        return made


class RemoteReranker:
    """The worker's cross-encoder; a `Reranker`, which is not asked for as long as its `rest` says."""

    def __init__(self, link: Link, spec: ModelSpec, *, rest: Rest | None = None) -> None:
        self._link, self._spec, self._rest = link, spec, rest or Rest()

    @property
    def identity(self) -> ModelIdentity:
        return self._spec.identity

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
        """How well each text answers `query`, 0 to 1, in order."""
        asked = {**_named(self._spec), "query": query, "texts": [*texts]}
        with self._rest.watched(seconds):
            return _numbers(self._link.call(Role.RERANKER, "/score", asked, seconds), len(texts), 1)[:, 0]


class RemoteExtractor:
    """The worker's GLiNER2; an `EntityRelationModel`."""

    def __init__(self, link: Link, spec: ModelSpec) -> None:
        self._link, self._spec = link, spec

    def read(self, texts: Sequence[str], *, labels: Sequence[str], relations: Sequence[str], threshold: float) -> list[Markup]:
        """What is in each text, in order; everything that scores at least `threshold`. Raises `ModelError`."""
        asked = {**_named(self._spec), "texts": [*texts], "labels": [*labels], "relations": [*relations], "threshold": threshold}
        content = self._link.call(Role.EXTRACTOR, "/read", asked, READING_SECONDS)
        try:
            found = [_markup(said) for said in json.loads(content)]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError("What the worker read in a text cannot be used.") from error
        if len(found) != len(texts):
            raise ModelError("The worker did not read every text.")
        return found


def _named(spec: ModelSpec) -> dict[str, object]:
    """Which model is meant, so that no other answers in its place."""
    return {"model_id": spec.model_id, "revision": spec.revision}


def _numbers(content: bytes, rows: int, columns: int) -> NDArray[np.float32]:
    if len(content) != 4 * rows * columns:
        raise ModelError("The worker answered with another number of numbers.")
    numbers = np.frombuffer(content, "<f4").reshape(rows, columns).astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ModelError("The worker answered with what are no numbers.")
    return numbers


def _markup(said: Mapping[str, Any]) -> Markup:
    """Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for anything else."""
    entities = [(str(one["label"]), _ends([one["start"], one["end"]]), _share(one["score"])) for one in said["entities"]]
    return Markup(
        entities=tuple(FoundEntity(label=label, start=start, end=end, score=score) for label, (start, end), score in entities),
        relations=tuple(
            FoundRelation(name=str(one["name"]), head=_ends(one["head"]), tail=_ends(one["tail"]), score=_share(one["score"]))
            for one in said["relations"]
        ),
    )


def _ends(said: Sequence[object]) -> tuple[int, int]:
    start, end = said
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end):
        raise ValueError(said)
    return start, end


def _share(said: object) -> float:
    if not (isinstance(said, int | float) and 0.0 <= said <= 1.0):
        raise ValueError(said)
    return float(said)


def _refusal(content: bytes) -> ModelError:
    try:
        said = json.loads(content)
        kind = ModelUnavailableError if said["error"] == ModelUnavailableError.__name__ else ModelError
        return kind(str(said["message"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return ModelUnavailableError("The worker, which holds the models, answered nothing that can be understood.")
