"""The typing model behind Ollama on this machine, through Ollama's own client; nothing is ever sent elsewhere."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from time import monotonic
from urllib.parse import urlsplit

import httpx
import ollama

from lean_memory.errors import InvalidInputError, ModelError, ModelUnavailableError

DEFAULT_HOST = "http://127.0.0.1:11434"
DEFAULT_TIMEOUT = 60.0

_CONNECTING = 3.0
_LONGEST_TALK = 180.0
_MOST_TOKENS = 768
_CONTEXT = 8192
_MOST_CHARACTERS = 16_000
_MOST_BYTES = 4_000_000
"""Of a whole response; each token comes with some hundred bytes around it."""


class OllamaTyping:
    """A `TypingModel`: one model of a running Ollama, temperature 0. Raises `InvalidInputError` where `host` is not this machine.

    Each question has a connection of its own: they are few and slow, and none outlives a fork. Nothing is asked before `answer`.
    """

    def __init__(self, model: str, *, host: str = DEFAULT_HOST, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._model, self._host, self._timeout = model, _local(host), timeout

    def answer(self, instruction: str, question: str, schema: Mapping[str, object]) -> str:
        """The raw answer. Raises `ModelError` when it was cut off, and `ModelUnavailableError` when none came within the timeout.

        The timeout is for the whole answer; a server that stalls at the very end of it can take as long once more.
        """
        with _asking(self._model, self._host, self._timeout) as client:
            return self._streamed(client, instruction, question, schema)

    def _streamed(self, client: ollama.Client, instruction: str, question: str, schema: Mapping[str, object]) -> str:
        """The answer piece by piece, so that one without end can be left early."""
        pieces: list[str] = []
        length, why = 0, None
        for part in client.chat(  # pyright: ignore[reportUnknownMemberType] - the client's annotation of `tools` is partial
            model=self._model,
            messages=[{"role": "system", "content": instruction}, {"role": "user", "content": question}],
            format=dict(schema),
            options={"temperature": 0, "seed": 0, "num_predict": _MOST_TOKENS, "num_ctx": _CONTEXT},
            think=False,
            stream=True,
        ):
            pieces.append(part.message.content or "")
            length += len(pieces[-1])
            if length > _MOST_CHARACTERS:
                raise ModelError("The typing model's answer has no end; it is not used.")
            if part.done:
                why = part.done_reason or "stop"
                break
        if why != "stop":
            raise ModelError("The typing model's answer was cut off; it is not used.")
        return "".join(pieces)


class OllamaTalk:
    """A model of a running Ollama that answers in words. Raises `InvalidInputError` where `host` is not this machine."""

    def __init__(self, model: str, *, host: str = DEFAULT_HOST, timeout: float = _LONGEST_TALK) -> None:
        self.model, self._host, self._timeout = model, _local(host), timeout

    @classmethod
    def first(cls, *, host: str = DEFAULT_HOST) -> OllamaTalk:
        """With the first model that Ollama has. Raises `ModelUnavailableError` where it has none, or does not run."""
        with _asking("", _local(host), _CONNECTING) as client:
            names = [model.model for model in client.list().models if model.model]
        if not names:
            raise ModelUnavailableError("Ollama runs and has no model; `ollama pull NAME` fetches one.")
        return cls(names[0], host=host)

    def reply(self, instruction: str, messages: Sequence[tuple[str, str]]) -> Iterator[str]:
        """The answer to a conversation – pairs of `user` or `assistant` and what was said – piece by piece. Raises `ModelError`."""
        said = [{"role": "system", "content": instruction}, *({"role": role, "content": text} for role, text in messages)]
        with _asking(self.model, self._host, self._timeout) as client:
            for part in client.chat(  # pyright: ignore[reportUnknownMemberType] - the client's annotation of `tools` is partial
                model=self.model, messages=said, options={"num_ctx": _CONTEXT, "num_predict": _MOST_TOKENS}, think=False, stream=True
            ):
                yield part.message.content or ""
                if part.done:
                    return


@contextmanager
def _asking(model: str, host: str, timeout: float) -> Generator[ollama.Client]:
    """A client that asks no proxy, follows no pointer to another address, and reads until the deadline at most; its errors in our words."""
    deadline = monotonic() + timeout

    def bound(response: httpx.Response) -> None:
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Bounded(response.stream, deadline)

    client = ollama.Client(
        host=host,
        timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECTING)),
        trust_env=False,
        follow_redirects=False,
        event_hooks={"response": [bound]},
    )
    try:
        yield client
    except ollama.ResponseError as error:
        raise ModelUnavailableError(_refusal(model, error)) from error
    except (ConnectionError, httpx.HTTPError) as error:
        raise ModelUnavailableError(f"Ollama did not answer ({type(error).__name__}).") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"What Ollama answered is not of its protocol ({type(error).__name__}).") from error
    finally:
        client.close()


class _Bounded(httpx.SyncByteStream):
    """A response's bytes until the deadline, however slowly they drip."""

    def __init__(self, stream: httpx.SyncByteStream, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if monotonic() > self._deadline:
                raise httpx.ReadTimeout("the answer took too long")
            if size > _MOST_BYTES:
                raise httpx.ReadError("the answer has no end")
            yield chunk

    def close(self) -> None:
        self._stream.close()


def _local(host: str) -> str:
    """The address, if it is of this machine."""
    try:
        parts = urlsplit(host if "//" in host else f"http://{host}")
        name = parts.hostname or ""
        here = name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        here = False
    if not here:
        raise InvalidInputError(f"Ollama is asked on this machine only, and {host!r} is another; use 127.0.0.1 or localhost.")
    return host


def _refusal(model: str, error: ollama.ResponseError) -> str:
    if error.status_code == 404:
        return f"Ollama does not have the model {model!r}; `ollama pull {model}` fetches it."
    return f"Ollama refused to answer (status {error.status_code})."
