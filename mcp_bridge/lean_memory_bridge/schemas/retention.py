"""Rules of how long things are kept, as the service speaks of them. Only the person's own programs ask for them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from lean_memory_bridge.schemas.base import Answer, NamespaceName, Request

ActName = Literal["put-away", "ask"]


class RuleRequest(Request):
    """What nobody has said for so many days is put away, or the person is asked whether it may be erased. Names a namespace, a client, or both."""

    namespace: NamespaceName | None = None
    client: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Only what this client alone has passed on."""
    days: Annotated[int, Field(ge=1, le=36_500)]
    act: ActName = "put-away"


class RuleView(Answer):
    """A rule that holds."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True, from_attributes=True)

    id: str
    namespace: str | None
    client: str | None
    days: int
    act: ActName


class Retention(Answer):
    """The rules; none unless the person set some."""

    rules: tuple[RuleView, ...]
    problems: tuple[str, ...] = ()
    """Files of rules that could not be understood, a sentence each."""


class ConcernedText(Answer):
    """A fact that a rule would be about."""

    namespace: str
    text: str


class Concerned(Answer):
    """What a rule would be about today."""

    total: int
    texts: tuple[ConcernedText, ...]
    """At most 200."""
