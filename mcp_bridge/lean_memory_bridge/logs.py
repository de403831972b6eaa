"""What the service's log says of an error: where it happened and of what kind, never what it says, which may be what somebody told the memory."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from types import TracebackType

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Formatter(logging.Formatter):
    """Writes of an error and of those it came from the frames and the kinds."""

    def __init__(self) -> None:
        super().__init__(FORMAT)

    def formatException(self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]) -> str:  # noqa: N802 - logging's name
        """The frames and the kind of each error of the chain, the first cause first."""
        return "\n".join(
            f"{''.join(traceback.format_tb(each.__traceback__))}{type(each).__name__}" for each in reversed(list(_chain(ei[1])))
        )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
