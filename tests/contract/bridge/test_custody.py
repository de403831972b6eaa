"""Backups and bundles through the service: for the person's own programs only, with the night's backup before the night's run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.errors import InvalidInputError, NotFoundError
from lean_memory_bridge.custody_client import CustodyClient
from lean_memory_bridge.jobs import Jobs
from lean_memory_bridge.runtime import admin_token
from lean_memory_bridge.schemas.maintenance import MaintainRequest
from support.embedding import WordEmbedder
from support.service import ServiceProcess, send
from support.statements import day
from support.supervised import eventually


def _client(service: ServiceProcess, token: str) -> CustodyClient:
    return CustodyClient(service.root, service.live, token)


@pytest.fixture
def person(service: ServiceProcess) -> CustodyClient:
    return _client(service, admin_token(service.root))


def test_a_backup_and_a_restore_through_the_service(person: CustodyClient) -> None:
    person.add("I live in Porto.", namespace="ana")
    made = person.backup()
    assert [one.name for one in made.namespaces] == ["ana"]
    assert person.backups()[0] == made
    person.add("I moved to Lisbon.", namespace="ana")
    (restored,) = person.restore(Path(made.path).name)
    assert restored.facts == 1
    assert [fact.object for fact in person.facts(namespace="ana").facts] == ["Porto"]
    with pytest.raises(NotFoundError):
        person.restore("nowhere")


def test_a_bundle_through_the_service(person: CustodyClient, tmp_path: Path) -> None:
    person.add("I work at Globex.", namespace="bea")
    path = str(tmp_path / "bea.leanmem")
    assert person.export("bea", path, passphrase="correct horse").is_sealed
    planned = person.import_(path, namespace="copy", passphrase="correct horse")
    assert (planned.is_applied, [part.fate for part in planned.parts]) == (False, ["add"])
    person.import_(path, namespace="copy", apply=True, passphrase="correct horse")
    assert [fact.object for fact in person.facts(namespace="copy").facts] == ["Globex"]
    with pytest.raises(InvalidInputError, match="whole path"):
        person.export("bea", "bea.leanmem")


def test_a_client_cannot_ask_for_any_of_it(service: ServiceProcess, person: CustodyClient, tmp_path: Path) -> None:
    path = str(tmp_path / "a.leanmem")
    bodies = {
        "backup": {},
        "restore": {"backup": "x", "confirmed": True},
        "export": {"namespace": "ana", "path": path},
        "import": {"path": path},
    }
    headers = {"Authorization": f"Bearer {person.issue_token('script')}", "Content-Type": "application/json"}
    for verb, body in bodies.items():
        assert send(service.runtime.port, "POST", f"/api/v1/{verb}", headers, json.dumps(body).encode()).status == 403
    assert send(service.runtime.port, "GET", "/api/v1/backups", headers).status == 403
    assert list(tmp_path.iterdir()) == []


def test_each_night_s_run_begins_with_a_backup(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.add("ana", "I live in Porto.", t_ref=day(1))
        jobs = Jobs(memory, lambda: None)
        try:
            for trigger in ("nightly", "cli"):
                job = jobs.begin(MaintainRequest(every=True, apply=True, trigger=trigger, wait=0), ["ana"])
                eventually(lambda job=job: jobs.look(job).state == "done")
        finally:
            jobs.close()
        assert [backup.occasion for backup in memory.backups()] == ["nightly"]
