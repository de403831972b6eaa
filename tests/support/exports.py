"""Exports of other programs, made up in the forms that these document."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

from support.moments import day, ms

Turn = tuple[str, str]
"""Who said it (`user`, `assistant`, …), and what."""


def chatgpt_conversation(name: str, turns: Sequence[Turn], *, begun: int = 1) -> dict[str, object]:
    """A conversation of ChatGPT's export that was never edited; a turn is said an hour after the one before it, from noon of the day `begun` on."""
    mapping: dict[str, object] = {"root": {"id": "root", "parent": None, "children": [f"{name}-0"], "message": None}}
    for number, (role, text) in enumerate(turns):
        above = f"{name}-{number - 1}" if number else "root"
        mapping[f"{name}-{number}"] = chatgpt_node(f"{name}-{number}", above, role, text, at=ms(day(begun)) / 1000 + 3600 * number)
    return {
        "title": name,
        "create_time": ms(day(begun)) / 1000,
        "mapping": mapping,
        "current_node": f"{name}-{len(turns) - 1}",
        "conversation_id": name,
    }


def chatgpt_node(name: str, parent: str, role: str, text: str, *, at: float | None) -> dict[str, object]:
    """One node of a conversation's tree."""
    message = {
        "id": name,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "metadata": {},
    }
    return {"id": name, "parent": parent, "children": [], "message": message}


def chatgpt_export(path: Path, conversations: Sequence[object]) -> Path:
    """ChatGPT's export as a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations.json", json.dumps(conversations))
    return path


def claude_export(folder: Path, turns: Sequence[Turn]) -> Path:
    """Claude's export, unpacked, with one conversation."""
    folder.mkdir(exist_ok=True)
    messages = [
        {"uuid": f"m{number}", "sender": who, "text": text, "content": [{"type": "text", "text": text}], "attachments": [], "files": [],
         "created_at": f"2025-01-{number + 1:02}T12:00:00.000000Z"}
        for number, (who, text) in enumerate(turns)
    ]  # fmt: skip
    talk = {"uuid": "talk", "name": "Talk", "created_at": "2025-01-01T12:00:00.000000Z", "chat_messages": messages}
    (folder / "conversations.json").write_text(json.dumps([talk]), encoding="utf-8")
    (folder / "users.json").write_text("[]", encoding="utf-8")
    return folder


def lines(path: Path, values: Sequence[object]) -> Path:
    """One JSON document a line."""
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    return path


def note(path: Path, text: str, *, changed: int = 1) -> Path:
    """A note that was last changed on a day of January 2025."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (ms(day(changed)) / 1000,) * 2)
    return path
