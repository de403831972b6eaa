"""The assistants that can be connected on this computer."""

from __future__ import annotations

from lean_memory_bridge.schemas.base import Answer, Request


class AssistantView(Answer):
    """An assistant in one place of this computer."""

    id: str
    """Also the name under which it calls the memory."""
    name: str
    file: str
    """Its configuration."""
    installed: bool
    standing: str
    """not connected, connected, outdated, edited, foreign or unreadable."""
    applies: str
    """What the person has to do before the assistant notices a change."""


class Assistants(Answer):
    """Every assistant that is known, and what to paste into any other."""

    assistants: tuple[AssistantView, ...]
    snippet: str


class AssistantAsked(Request):
    """Nothing has to be said beside the assistant's name in the path."""


class AssistantOutcome(Answer):
    """What came of it, in one place of this computer."""

    file: str
    outcome: str
    """connected, unchanged, disconnected, refused, answered or silent."""
    sentence: str


class AssistantDone(Answer):
    """What came of connecting, disconnecting or trying an assistant."""

    id: str
    outcomes: tuple[AssistantOutcome, ...]
    sentence: str
    """All of it in words."""
