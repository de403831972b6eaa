"""What a command was given, typed."""

from __future__ import annotations

import argparse
from enum import IntEnum

DEFAULT_NAMESPACE = "default"


class Exit(IntEnum):
    """How a command ends."""

    FINE = 0
    FAILED = 1
    BAD_USE = 2
    INTERRUPTED = 130


class BadUseError(Exception):
    """The command was called in a way that cannot be carried out; the message says how to call it."""


class Options(argparse.Namespace):
    """Every option of every command; the class attributes are the defaults."""

    command: str = ""
    version: bool = False
    root: str | None = None
    namespace: str = DEFAULT_NAMESPACE
    json: bool = False
    words: list[str]
    t_ref: str | None = None
    tz: str | None = None
    source: str = "user"
    client: str | None = None
    again: bool = False
    lines: bool = False
    k: int = 5
    as_of: str | None = None
    known_at: str | None = None
    history: bool = False
    include_cold: bool = False
    subject: str | None = None
    predicate: str | None = None
    limit: int | None = None
    verbose: bool = False
    episode: str | None = None
    entity: str | None = None
    matching: str | None = None
    yes: bool = False
    say: list[str]
    interactive: bool = False
    idle_exit: float | None = None
    at_login: bool = False
    window: bool = False
    replace: bool = False
    repair: bool = False
    only_print: bool = False
    model: str | None = None
    from_folder: str | None = None
    use: bool = False
    apply: bool = False
    auto_only: bool = False
    force: bool = False
    kind: str | None = None
    decided: bool = False
    text: str | None = None
    choice: str | None = None
    revision: int | None = None
    listed: bool = False
    scrub: bool = False
    sentence: str | None = None
    from_client: str | None = None
    since: str | None = None
    until: str | None = None
    passphrase: bool = False
    dry_run: bool = False
    verify: bool = False
    days: int | None = None
    ask: bool = False

    def __init__(self) -> None:
        super().__init__()
        self.words = []
        self.say = []
