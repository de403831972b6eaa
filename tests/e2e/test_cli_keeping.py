"""Backup, restore, export, import and wide forgetting from a terminal."""

from __future__ import annotations

from pathlib import Path

from support.command import Command


def objects(command: Command, *words: str) -> list[str]:
    return sorted(fact["object"] for fact in command.json("facts", *words)["facts"])


def test_a_backup_comes_back_and_says_what_it_did(command: Command) -> None:
    command.done("add", "I work at Acme Corp.")
    made = command.json("backup")
    assert [one["episodes"] for one in made["namespaces"]] == [1]
    command.done("add", "I now work at Globex.")
    refused = command.run("restore", made["path"], said=b"yes\n")
    assert (refused.code, refused.is_one_sentence()) == (2, True)
    assert "kept aside" not in command.done("restore")
    assert "before-restore" in command.done("restore", Path(made["path"]).name, "--yes")
    assert objects(command) == ["Acme Corp"]
    file = Path(made["path"]) / made["namespaces"][0]["file"]
    file.write_bytes(file.read_bytes()[:-100])
    damaged = command.run("restore", made["path"], "--yes")
    assert (damaged.code, damaged.is_one_sentence()) == (1, True)


def test_a_namespace_moves_in_one_file_once_its_plan_was_shown(command: Command, tmp_path: Path) -> None:
    command.done("add", "I work at Acme Corp.")
    bundle = str(tmp_path / "mine.leanmem")
    command.done("export", bundle)
    assert "add --apply" in command.done("import", bundle, "-n", "copy")
    assert command.run("facts", "-n", "copy").code == 1
    assert command.json("import", bundle, "-n", "copy", "--apply")["is_applied"] is True
    assert objects(command, "-n", "copy") == ["Acme Corp"]
    command.done("export", str(tmp_path / "mine.md"))
    assert "I work at Acme Corp." in (tmp_path / "mine.md").read_text(encoding="utf-8")


def test_all_that_one_client_said_goes(command: Command) -> None:
    command.done("add", "I work at Acme Corp.", "--client", "script")
    command.done("add", "I live in Porto.")
    assert command.run("forget", "--from-client", "script", "--sentence", "x").code == 2
    command.done("forget", "--from-client", "script", "--yes")
    assert objects(command) == ["Porto"]


def test_a_backup_is_verified_and_loses_what_was_forgotten_since(command: Command) -> None:
    command.done("add", "I like walnuts.")
    made = Path(command.json("backup")["path"])
    name = made.name
    assert "every byte as it was written" in command.done("backup", "--verify", name)
    [single] = made.glob("*.db")
    alone = command.done("backup", "--verify", str(single))
    assert "can be used" in alone
    assert "every byte" not in alone
    command.done("forget", "--sentence", "I like walnuts.", "--yes")
    assert len(command.json("backup", "--scrub")["backups"]) == 1
    left = [path for path in command.root.rglob("*") if path.is_file() and b"walnuts" in path.read_bytes()]
    assert left == []
    assert command.run("backup", "--verify", "nowhere").code == 1


def test_forgetting_names_the_backups_that_may_hold_it_and_scrubbing_says_what_they_are_called_now(command: Command) -> None:
    command.done("add", "I live in Porto.")
    before = Path(command.json("backup")["path"]).name
    command.done("add", "I like walnuts.")
    holding = Path(command.json("backup")["path"]).name
    told = command.done("forget", "--sentence", "I like walnuts.", "--yes")
    assert holding in told
    assert "lean-memory backup --scrub" in told
    scrubbed = command.done("backup", "--scrub")
    names = [Path(one["path"]).name for one in command.json("backup", "--list")["backups"]]
    assert before in names
    assert holding not in names
    assert next(name for name in names if name != before) in scrubbed.split()
    assert "none was changed" in command.done("backup", "--scrub")


def test_who_forgets_is_told_that_copies_elsewhere_are_not_looked_at(command: Command, tmp_path: Path) -> None:
    command.done("add", "I like walnuts.")
    command.done("backup", str(tmp_path / "mine"))
    forgotten = command.done("forget", "--sentence", "I like walnuts.", "--yes")
    scrubbed = command.done("backup", "--scrub")
    assert "No backup in the data folder holds" in scrubbed
    assert all("folders of your own and exports are not looked at" in told for told in (forgotten, scrubbed))


def test_nothing_to_back_up_makes_no_backup(command: Command) -> None:
    empty = command.run("backup")
    assert (empty.code, empty.is_one_sentence()) == (1, True)
    command.done("add", "I live in Porto.")
    assert "'default'" in command.run("backup", "-n", "nobody").err
    assert not (command.root / "backups").exists()


def test_rules_of_retention_are_set_listed_and_removed(command: Command) -> None:
    command.done("add", "I collect stamps.", "--client", "script", "--t-ref", "2020-01-01")
    assert "no rules" in command.done("retention")
    rule = command.json("retention", "set", "--from-client", "script", "--days", "30")
    assert (rule["act"], rule["concerned"]) == ("put-away", [])
    assert "script" in command.done("retention")
    assert command.run("retention", "set", "--days", "30").code == 2
    assert command.run("retention", "set").code == 2
    command.done("retention", "remove", rule["id"])
    assert command.json("retention")["rules"] == []
