"""A data folder that is a file, or lies below one: every command says so and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory_desktop.cli.main import run

COMMANDS = (
    ["facts"],
    ["search", "employer"],
    ["status"],
    ["namespaces"],
    ["add", "I live in Porto."],
    ["review"],
    ["maintain"],
    ["open", "--print"],
    ["serve"],
    ["connect", "cursor"],
    ["backup"],
    ["retention"],
)


@pytest.mark.parametrize("below", ["", "memory"], ids=["a file", "below a file"])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_data_folder_that_is_a_file_is_told_in_one_sentence(
    words: list[str], below: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    assert run([*words, "--root", str(file / below)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{file} is no folder" in told.err
    assert "nothing was changed" in told.err
    assert (file.read_text(encoding="utf-8"), sorted(tmp_path.iterdir())) == ("mine", [file])
