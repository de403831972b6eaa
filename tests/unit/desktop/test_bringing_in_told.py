"""What `lean-memory bring-in` says of a look that was interrupted."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from lean_memory.bringing_in import Kind, Report, State
from lean_memory_desktop.cli import bringing_in
from lean_memory_desktop.cli.options import Exit, Options


class Interrupted:
    """A memory that is asked to stop while it looks."""

    def preview_bring_in(self, path: Path, **_: object) -> Report:
        return Report(kind=Kind.PLAIN, path=path, state=State.STOPPED, namespaces=("default",), texts=3, added=3)


def test_a_look_that_was_interrupted_does_not_say_that_anything_was_brought_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def opened(_: Options) -> contextlib.nullcontext[Interrupted]:
        return contextlib.nullcontext(Interrupted())

    monkeypatch.setattr(bringing_in, "open_files", opened)
    options = Options()
    options.words, options.dry_run = ["notes.md"], True
    assert bringing_in.bring_in(options) == Exit.INTERRUPTED
    said = " ".join(capsys.readouterr().out.split())
    assert "3 would be brought in" in said
    assert "Stopped. Nothing was written." in said
    assert "stays" not in said
