"""What `lean-memory doctor` finds about the service and about the assistants that are connected to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from lean_memory_bridge.clients.catalogue import CLIENTS, Client
from lean_memory_bridge.clients.connecting import Connected, Connector, Refused, Standing
from lean_memory_bridge.clients.entry import our_launch
from lean_memory_bridge.clients.ledger import Ledger
from lean_memory_bridge.clients.places import Computer, Place, places_of
from lean_memory_bridge.runtime import find
from lean_memory_desktop.cli.finding import Finding
from lean_memory_desktop.instance import last_failure


def service_findings(root: Path) -> Iterator[Finding]:
    """Whether the service answers, and why the last attempt to run it failed."""
    live = find(root) if root.is_dir() else None
    failure = last_failure(root) if root.is_dir() and live is None else None
    if live is not None:
        yield Finding(subject="service", sound=True, sentence=f"The service answers at {live.address} (version {live.version}).")
    elif failure is not None:
        yield Finding(
            subject="service",
            sound=False,
            sentence=f"The service could not be kept running. {failure}",
            remedy="Start it in a terminal to see more: lean-memory serve",
        )
    else:
        yield Finding(subject="service", sound=True, sentence="The service does not run at present; the first assistant starts it.")


def connection_findings(root: Path, *, repair: bool) -> Iterator[Finding]:
    """How each assistant's entry stands; with `repair` those of another installation of ours are brought up to date."""
    connector = Connector(Ledger(root))
    computer = Computer.this()
    for client in CLIENTS:
        for place in places_of(client, computer):
            finding = _finding(connector, client, place, root, repair=repair)
            if finding is not None:
                yield finding


def _finding(connector: Connector, client: Client, place: Place, root: Path, *, repair: bool) -> Finding | None:
    launch = our_launch(client.id, root)
    match connector.standing(client, place.file, launch):
        case Standing.CONNECTED:
            return _of(client, f"{client.name} is connected in {place.file}.")
        case Standing.EDITED:
            return _of(client, f"{client.name} is connected; its entry in {place.file} was edited by hand.")
        case Standing.OUTDATED if repair:
            outcome = connector.connect(client, place.file, launch, datetime.now(UTC).astimezone())
            return _repaired(client, outcome.file, outcome.reason if isinstance(outcome, Refused) else None, isinstance(outcome, Connected))
        case Standing.OUTDATED:
            sentence = f"{client.name} is connected to another installation or data folder ({place.file})."
            return _of(client, sentence, remedy=f"lean-memory doctor --repair, or lean-memory connect {client.id}")
        case Standing.UNREADABLE if place.installed:
            return _of(client, f"{client.name}'s configuration {place.file} cannot be read.", remedy="Mend the file; it was not touched.")
        case _:
            return None


def _repaired(client: Client, file: Path, refusal: str | None, done: bool) -> Finding:
    if refusal is not None:
        return _of(client, refusal, remedy="Mend the file and try again.")
    return _of(client, f"{client.name} was {'connected anew' if done else 'connected already'} in {file}.")


def _of(client: Client, sentence: str, remedy: str = "") -> Finding:
    return Finding(subject=client.id, sound=not remedy, sentence=sentence, remedy=remedy)
