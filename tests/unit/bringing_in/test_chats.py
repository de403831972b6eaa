"""The data exports of ChatGPT and Claude: what the person said, when they said it, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from lean_memory import Memory
from lean_memory.bringing_in import Kind, Report, detect
from support.exports import chatgpt_conversation, chatgpt_export, chatgpt_node, claude_export
from support.moments import day, ms


def left(report: Report) -> dict[str, int]:
    return {one.reason: one.count for one in report.left_out}


def test_what_the_person_told_chatgpt_is_known_from_the_day_it_was_said_on(memory: Memory, tmp_path: Path) -> None:
    talks = [
        chatgpt_conversation("new", [("user", "I now work at Globex."), ("assistant", "You work at Hooli.")], begun=20),
        chatgpt_conversation("old", [("user", "I work at Acme."), ("assistant", "Noted."), ("user", "I like tea.")], begun=10),
    ]
    export = chatgpt_export(tmp_path / "export.zip", talks)
    assert detect(export) is Kind.CHATGPT
    report = memory.bring_in(export, namespace="ana")
    assert (report.state, report.texts, report.added, report.known) == ("done", 3, 3, 0)
    assert (report.since, report.until) == (ms(day(10)), ms(day(20)))
    assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Globex"]
    assert [f.object for f in memory.facts("ana", predicate="works_at", as_of=day(15))] == ["Acme"]
    assert [f.object for f in memory.facts("ana", as_of=day(5))] == []
    assert left(report) == {"What the assistant and its tools wrote is not taken for something that you said.": 2}


def test_what_is_brought_in_has_low_trust_and_names_where_it_comes_from(memory: Memory, tmp_path: Path) -> None:
    memory.add("ana", "I work at Initech.", t_ref=day(1))
    memory.bring_in(
        chatgpt_export(tmp_path / "export.zip", [chatgpt_conversation("a", [("user", "I work at Acme.")], begun=9)]), namespace="ana"
    )
    trusts = {f.object: f.trust for f in memory.facts("ana", predicate="works_at", include_history=True)}
    assert trusts == {"Initech": "user", "Acme": "imported"}
    [brought] = [f for f in memory.facts("ana", predicate="works_at") if f.object == "Acme"]
    assert memory.explain("ana", brought.id).client == "chatgpt"
    # What the person told this memory themselves is not ended by it.
    assert "Initech" in [f.object for f in memory.facts("ana", predicate="works_at")]


def test_of_an_edited_message_the_wording_that_is_shown_counts(memory: Memory, tmp_path: Path) -> None:
    talk = chatgpt_conversation("a", [("user", "I live in Rome.")])
    mapping = talk["mapping"]
    assert isinstance(mapping, dict)
    mapping["edited"] = chatgpt_node("edited", "root", "user", "I live in Lisbon.", at=None)
    talk["current_node"] = "edited"
    report = memory.bring_in(chatgpt_export(tmp_path / "export.zip", [talk]), namespace="ana")
    assert [f.object for f in memory.facts("ana", include_history=True)] == ["Lisbon"]
    assert left(report) == {"An earlier wording of a message that was edited afterwards, or a branch that was left.": 1}


def test_hidden_messages_pictures_and_what_is_too_long_are_left_out_and_told(memory: Memory, tmp_path: Path) -> None:
    talk = chatgpt_conversation("a", [("user", "I like tea."), ("user", "x" * 30_000), ("user", "secretly"), ("user", "look")])
    mapping = talk["mapping"]
    assert isinstance(mapping, dict)
    mapping["a-2"]["message"]["metadata"]["is_visually_hidden_from_conversation"] = True
    mapping["a-3"]["message"]["content"] = {
        "content_type": "multimodal_text",
        "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "file://1"}, "I like jazz."],
    }
    report = memory.bring_in(chatgpt_export(tmp_path / "export.zip", [talk]), namespace="ana")
    assert {f.object for f in memory.facts("ana")} == {"tea", "jazz"}
    assert sorted(left(report).values()) == [1, 1, 1]
    assert [one.places for one in report.left_out if "longer" in one.reason] == [("conversations.json: message a-1",)]


def test_an_export_in_several_files_comes_whole(memory: Memory, tmp_path: Path) -> None:
    for number, thing in enumerate(("tea", "jazz")):
        talk = chatgpt_conversation(f"c{number}", [("user", f"I like {thing}.")])
        (tmp_path / f"conversations-00{number}.json").write_text(json.dumps([talk]), encoding="utf-8")
    assert memory.bring_in(tmp_path, namespace="ana").added == 2


def test_what_the_person_told_claude_is_known_and_what_it_answered_is_not(memory: Memory, tmp_path: Path) -> None:
    export = claude_export(
        tmp_path / "claude", [("human", "I live in Lisbon."), ("assistant", "You live in Rome."), ("human", "I like tea.")]
    )
    assert detect(export) is Kind.CLAUDE
    report = memory.bring_in(export, namespace="ana")
    assert (report.added, sum(left(report).values())) == (2, 1)
    assert {f.object for f in memory.facts("ana")} == {"Lisbon", "tea"}
    assert [f.object for f in memory.facts("ana", as_of=day(2))] == ["Lisbon"]


def test_conversations_without_names_whose_messages_are_called_alike_are_kept_apart(memory: Memory, tmp_path: Path) -> None:
    told = [chatgpt_conversation("", [("user", text)]) for text in ("I like tea.", "I live in Porto.")]
    export = chatgpt_export(tmp_path / "export.zip", told)
    assert memory.bring_in(export, namespace="ana").added == 2
    assert {fact.object for fact in memory.facts("ana")} == {"tea", "Porto"}
    assert memory.bring_in(export, namespace="ana").added == 0


def test_attachments_are_counted(memory: Memory, tmp_path: Path) -> None:
    folder = claude_export(tmp_path / "claude", [("human", "I like tea.")])
    file = folder / "conversations.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    told[0]["chat_messages"][0]["attachments"] = [{"file_name": "cv.pdf", "extracted_content": "I work at Hooli."}]
    file.write_text(json.dumps(told), encoding="utf-8")
    report = memory.bring_in(folder, namespace="ana")
    assert left(report) == {"Attachments and files are not brought in, only what you wrote about them.": 1}
    assert [f.object for f in memory.facts("ana")] == ["tea"]


def test_a_secret_in_an_export_reaches_neither_the_memory_nor_the_preview(memory: Memory, tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    export = chatgpt_export(tmp_path / "export.zip", [chatgpt_conversation("a", [("user", f"My token is {key} and I like tea.")])])
    assert key not in str(memory.preview_bring_in(export, namespace="ana"))
    assert memory.bring_in(export, namespace="ana").redacted
    assert not any(key.encode() in file.read_bytes() for file in memory.root.rglob("*") if file.is_file())
