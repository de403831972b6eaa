"""What goes wrong on purpose: a sentence for the person, and the promise that everything is as it was."""

from __future__ import annotations


class SetupError(Exception):
    """The installation was not changed, or is again as it was; the message says why and what to do."""
