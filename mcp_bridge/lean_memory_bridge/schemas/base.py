"""What every request and every answer has in common, and the limits of both."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_TEXT = 4_000_000
"""Characters that one `add` takes at most."""
MAX_BATCH = 64
"""Texts that one `add_many` takes at most."""
LARGEST_BODY = 20_000_000
"""Bytes that one request holds at most: the longest text in the widest encoding, and its frame."""

SourceName = Literal["user", "assistant", "tool", "doc", "import", "maintenance"]
MomentText = Annotated[int | str, Field(examples=["2024-05-31", 1_717_113_600_000])]
"""Epoch milliseconds, or an ISO date or date and time; a date stands for its first moment, and without an offset it is local time."""
NamespaceName = Annotated[str, Field(min_length=1, max_length=1000)]


class Answer(BaseModel):
    """Something the service says."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True)


class Request(BaseModel):
    """Something the service is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)
