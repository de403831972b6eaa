"""Connecting and disconnecting leaves people's configurations byte for byte as they were."""

from __future__ import annotations

import json
import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lean_memory_bridge.clients.catalogue import CLIENTS, Client, Dialect
from lean_memory_bridge.clients.config_file import ConfigFileError, read_config, replace
from lean_memory_bridge.clients.connecting import Connected, Connector, Disconnected, Refused, Standing, Unchanged
from lean_memory_bridge.clients.entry import Launch, entries_of, entry_of
from lean_memory_bridge.clients.ledger import Ledger
from support.awkward import awkward_files, broken_files

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LAUNCH = Launch(command=["/opt/Lean Memory/bin/lean-memory-mcp"], environment={"LM_CLIENT": "x", "LM_DATA_ROOT": "C:\\données\\名"})
NEWER = Launch(command=["/opt/newer/bin/lean-memory-mcp"], environment=LAUNCH.environment)

AWKWARD = [pytest.param(client, name, id=f"{client.id}-{name}") for client in CLIENTS for name in awkward_files(client)]
BROKEN = [pytest.param(client, name, id=f"{client.id}-{name}") for client in CLIENTS for name in broken_files(client)]
by_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)


@pytest.fixture
def connector(tmp_path: Path) -> Connector:
    return Connector(Ledger(tmp_path / "data"))


def written(tmp_path: Path, raw: bytes) -> Path:
    file = tmp_path / "home" / "config.any"
    file.parent.mkdir()
    file.write_bytes(raw)
    return file


def entry_in(client: Client, file: Path) -> object:
    """What the client finds, read with the standard library where it can read it."""
    text = file.read_bytes().removeprefix(b"\xef\xbb\xbf").decode()
    if client.dialect is Dialect.TOML:
        return tomllib.loads(text)["mcp_servers"]["lean-memory"]
    try:
        return json.loads(text)[client.path[0]]["lean-memory"]
    except ValueError:
        return entries_of(client).find(text, "lean-memory")


@pytest.mark.parametrize(("client", "name"), AWKWARD)
def test_an_awkward_file_is_byte_for_byte_the_same_after_a_disconnect(
    client: Client, name: str, tmp_path: Path, connector: Connector
) -> None:
    before = awkward_files(client)[name]
    file = written(tmp_path, before)
    assert isinstance(connector.connect(client, file, LAUNCH, NOW), Connected)
    assert entry_in(client, file) == entry_of(client, LAUNCH)
    assert isinstance(connector.disconnect(client, file, NOW), Disconnected)
    assert file.read_bytes() == before


@pytest.mark.parametrize(("client", "name"), AWKWARD)
def test_everything_else_in_the_file_survives_connecting(client: Client, name: str, tmp_path: Path, connector: Connector) -> None:
    before = awkward_files(client)[name]
    file = written(tmp_path, before)
    connector.connect(client, file, LAUNCH, NOW)
    rest = iter(file.read_bytes())
    assert all(byte in rest for byte in before), "the bytes of before are not all there in their order"


@pytest.mark.parametrize(("client", "name"), AWKWARD)
def test_without_its_record_a_disconnect_still_leaves_what_others_wrote(
    client: Client, name: str, tmp_path: Path, connector: Connector
) -> None:
    before = awkward_files(client)[name]
    file = written(tmp_path, before)
    connector.connect(client, file, LAUNCH, NOW)
    (tmp_path / "data" / "connections.json").unlink()
    assert isinstance(connector.disconnect(client, file, NOW), Disconnected)
    entries = entries_of(client)
    was, became = (entries.tree(raw.removeprefix(b"\xef\xbb\xbf").decode()) for raw in (before, file.read_bytes()))
    assert isinstance(was, dict)
    assert isinstance(became, dict)
    assert {**{key: {} for key in client.path}, **was} == {**{key: {} for key in client.path}, **became}


@pytest.mark.parametrize(("client", "name"), BROKEN)
def test_a_broken_file_is_refused_and_not_touched(client: Client, name: str, tmp_path: Path, connector: Connector) -> None:
    before = broken_files(client)[name]
    file = written(tmp_path, before)
    outcome = connector.connect(client, file, LAUNCH, NOW)
    assert isinstance(outcome, Refused)
    assert str(file) in outcome.reason
    assert "not touched" in outcome.reason
    assert isinstance(connector.disconnect(client, file, NOW), Refused) or b"mcp_servers" in before
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


@by_client
def test_a_file_that_was_not_there_is_gone_after_a_disconnect_with_its_folders(
    client: Client, tmp_path: Path, connector: Connector
) -> None:
    file = tmp_path / "home" / "deep" / "er" / "config.any"
    (tmp_path / "home").mkdir()
    outcome = connector.connect(client, file, LAUNCH, NOW)
    assert isinstance(outcome, Connected)
    assert outcome.backup is None
    assert entry_in(client, file) == entry_of(client, LAUNCH)
    connector.disconnect(client, file, NOW)
    assert list((tmp_path / "home").iterdir()) == []


@by_client
def test_connecting_twice_changes_nothing(client: Client, tmp_path: Path, connector: Connector) -> None:
    file = written(tmp_path, awkward_files(client)["other servers"])
    connector.connect(client, file, LAUNCH, NOW)
    once, names = file.read_bytes(), sorted(file.parent.iterdir())
    assert connector.connect(client, file, LAUNCH, NOW) == Unchanged(file=file)
    assert (file.read_bytes(), sorted(file.parent.iterdir())) == (once, names)


@by_client
def test_a_backup_is_made_first_and_holds_the_file_as_it_was(client: Client, tmp_path: Path, connector: Connector) -> None:
    before = awkward_files(client)["other servers"]
    file = written(tmp_path, before)
    outcome = connector.connect(client, file, LAUNCH, NOW)
    assert isinstance(outcome, Connected)
    assert outcome.backup is not None
    assert outcome.backup.read_bytes() == before
    assert "20260501-120000" in outcome.backup.name


@by_client
def test_a_link_is_followed_and_stays_a_link(client: Client, tmp_path: Path, connector: Connector) -> None:
    before = awkward_files(client)["other servers"]
    real = written(tmp_path, before)
    link = tmp_path / "link"
    link.symlink_to(real)
    connector.connect(client, link, LAUNCH, NOW)
    assert link.is_symlink()
    assert entry_in(client, real) == entry_of(client, LAUNCH)
    connector.disconnect(client, link, NOW)
    assert real.read_bytes() == before


@by_client
def test_a_read_only_file_is_refused(client: Client, tmp_path: Path, connector: Connector) -> None:
    before = awkward_files(client)["other servers"]
    file = written(tmp_path, before)
    file.chmod(0o444)
    outcome = connector.connect(client, file, LAUNCH, NOW)
    assert isinstance(outcome, Refused)
    assert "read-only" in outcome.reason
    assert (file.read_bytes(), list(file.parent.iterdir())) == (before, [file])


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_the_mode_of_a_file_survives_and_a_new_one_is_private(tmp_path: Path, connector: Connector) -> None:
    client = CLIENTS[0]
    file = written(tmp_path, b"{}")
    file.chmod(0o640)
    connector.connect(client, file, LAUNCH, NOW)
    assert file.stat().st_mode & 0o777 == 0o640
    fresh = tmp_path / "fresh.json"
    connector.connect(client, fresh, LAUNCH, NOW)
    assert fresh.stat().st_mode & 0o777 == 0o600


@by_client
def test_an_entry_that_the_person_edited_is_noticed_and_left_alone(client: Client, tmp_path: Path, connector: Connector) -> None:
    file = written(tmp_path, awkward_files(client)["other servers"])
    connector.connect(client, file, LAUNCH, NOW)
    file.write_bytes(file.read_bytes().replace(b"Lean Memory/bin", b"Lean Memory/bin2"))
    edited = file.read_bytes()
    assert connector.standing(client, file, LAUNCH) is Standing.EDITED
    outcome = connector.connect(client, file, LAUNCH, NOW)
    assert isinstance(outcome, Refused)
    assert "edited by hand" in outcome.reason
    assert file.read_bytes() == edited
    assert isinstance(connector.connect(client, file, LAUNCH, NOW, replacing=True), Connected)
    assert connector.standing(client, file, LAUNCH) is Standing.CONNECTED
    assert isinstance(connector.disconnect(client, file, NOW), Disconnected)
    assert connector.standing(client, file, LAUNCH) is Standing.ABSENT


@by_client
def test_a_disconnect_takes_an_edited_entry_too_and_says_so(client: Client, tmp_path: Path, connector: Connector) -> None:
    before = awkward_files(client)["other servers"]
    file = written(tmp_path, before)
    connector.connect(client, file, LAUNCH, NOW)
    file.write_bytes(file.read_bytes().replace(b"Lean Memory/bin", b"Lean Memory/bin2"))
    outcome = connector.disconnect(client, file, NOW)
    assert isinstance(outcome, Disconnected)
    assert outcome.edited
    assert file.read_bytes() == before


@by_client
def test_somebody_elses_entry_of_our_name_is_left_alone(client: Client, tmp_path: Path, connector: Connector) -> None:
    foreign = entry_of(client, Launch(command=["/usr/bin/other-memory"]))
    before = entries_of(client).shown("lean-memory", foreign).encode()
    file = written(tmp_path, before)
    assert connector.standing(client, file, LAUNCH) is Standing.FOREIGN
    assert isinstance(connector.connect(client, file, LAUNCH, NOW), Refused)
    assert isinstance(connector.disconnect(client, file, NOW), Refused)
    assert file.read_bytes() == before
    connector.connect(client, file, LAUNCH, NOW, replacing=True)
    assert entry_in(client, file) == entry_of(client, LAUNCH)
    connector.disconnect(client, file, NOW)
    assert file.read_bytes() == before


@by_client
@pytest.mark.parametrize("name", ["other servers", "empty", "no table"])
def test_an_entry_of_an_older_installation_is_brought_up_to_date(client: Client, name: str, tmp_path: Path, connector: Connector) -> None:
    before = awkward_files(client)[name]
    file = written(tmp_path, before)
    connector.connect(client, file, LAUNCH, NOW)
    assert connector.standing(client, file, NEWER) is Standing.OUTDATED
    assert isinstance(connector.connect(client, file, NEWER, NOW), Connected)
    assert entry_in(client, file) == entry_of(client, NEWER)
    connector.disconnect(client, file, NOW)
    assert file.read_bytes() == before


@by_client
def test_an_entry_of_another_data_root_is_brought_up_to_date_unless_somebody_added_to_it(client: Client, tmp_path: Path) -> None:
    file = written(tmp_path, awkward_files(client)["other servers"])
    there = Launch(command=LAUNCH.command, environment={"LM_CLIENT": client.id, "LM_DATA_ROOT": "/there"})
    here = Launch(command=LAUNCH.command, environment={"LM_CLIENT": client.id})
    Connector(Ledger(tmp_path / "there")).connect(client, file, there, NOW)
    connector = Connector(Ledger(tmp_path / "here"))
    assert connector.standing(client, file, here) is Standing.OUTDATED
    assert isinstance(connector.connect(client, file, here, NOW), Connected)
    assert entry_in(client, file) == entry_of(client, here)
    added_to = Launch(command=LAUNCH.command, environment={**there.environment, "HTTP_PROXY": "x"})
    Connector(Ledger(tmp_path / "there")).connect(client, file, added_to, NOW, replacing=True)
    (tmp_path / "here" / "connections.json").unlink()
    assert connector.standing(client, file, here) is Standing.EDITED


@by_client
def test_what_the_client_wrote_since_stays(client: Client, tmp_path: Path, connector: Connector) -> None:
    file = tmp_path / "config.any"
    connector.connect(client, file, LAUNCH, NOW)
    added = b'\n[tui]\ntheme = "x"\n' if client.dialect is Dialect.TOML else None
    if added is not None:
        file.write_bytes(file.read_bytes() + added)
    else:
        held = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({"seen": 3, **held}, indent=1), encoding="utf-8")
    connector.disconnect(client, file, NOW)
    left = entries_of(client).tree(read_config(file).text)
    assert left == ({"tui": {"theme": "x"}} if added is not None else {"seen": 3})


def test_a_reader_of_plain_json_is_warned_of_comments(tmp_path: Path, connector: Connector) -> None:
    client = next(client for client in CLIENTS if client.dialect is Dialect.JSON)
    outcome = connector.connect(client, written(tmp_path, awkward_files(client)["comments"]), LAUNCH, NOW)
    assert isinstance(outcome, Connected)
    assert outcome.warning is not None
    assert "a comment in line 1" in outcome.warning


def test_a_file_that_another_program_writes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = written(tmp_path, b"{}")
    config = read_config(file)
    file.write_bytes(b'{"theirs": 1}')
    with pytest.raises(ConfigFileError, match="changed by another program"):
        replace(config, b'{"ours": 1}')
    assert file.read_bytes() == b'{"theirs": 1}'
    assert list(file.parent.iterdir()) == [file]
