"""Connecting this computer's assistants from the window: the same as `lean-memory connect`, told in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from lean_memory.errors import NotFoundError
from lean_memory_bridge.clients.catalogue import CLIENTS, Client
from lean_memory_bridge.clients.config_file import ConfigFileError, read_config
from lean_memory_bridge.clients.connecting import Connected, Connector, Disconnected, Refused
from lean_memory_bridge.clients.entry import SERVER_NAME, entries_of, entry_of, launch_of, our_launch
from lean_memory_bridge.clients.handshake import Answered, shake_hands
from lean_memory_bridge.clients.ledger import Ledger
from lean_memory_bridge.clients.places import Computer, Place, places_of
from lean_memory_bridge.schemas import AssistantDone, AssistantOutcome, Assistants, AssistantView


def known_assistants(root: Path) -> Assistants:
    """Every assistant in every place where it may be, and how it stands there; reads only."""
    computer, connector = Computer.this(), Connector(Ledger(root))
    found = [
        AssistantView(
            id=client.id,
            name=client.name,
            file=str(place.file),
            installed=place.installed,
            standing=connector.standing(client, place.file, our_launch(client.id, root)).value,
            applies=client.applies,
        )
        for client in CLIENTS
        for place in places_of(client, computer)
    ]
    like = CLIENTS[0]
    return Assistants(assistants=tuple(found), snippet=entries_of(like).shown(SERVER_NAME, entry_of(like, our_launch("other", root))))


def connect(root: Path, name: str) -> AssistantDone:
    """Put our entry into an assistant's configuration and start the command the way the assistant would. Raises `NotFoundError`."""
    client, connector = _client(name), Connector(Ledger(root))

    def at(place: Place) -> AssistantOutcome:
        outcome = connector.connect(client, place.file, our_launch(client.id, root), _now())
        if isinstance(outcome, Refused):
            return _outcome(place, "refused", outcome.reason)
        warning = f" {outcome.warning}" if isinstance(outcome, Connected) and outcome.warning else ""
        tried = _tried(client, place)
        said = f"Connected. {tried.sentence} {client.applies}" if tried.outcome == "answered" else f"Connected, but: {tried.sentence}"
        return _outcome(place, "connected" if isinstance(outcome, Connected) else "unchanged", f"{said}{warning}")

    return _everywhere(client, at)


def disconnect(root: Path, name: str) -> AssistantDone:
    """Take our entry out of an assistant's configuration. Raises `NotFoundError`."""
    client, connector = _client(name), Connector(Ledger(root))

    def at(place: Place) -> AssistantOutcome:
        match connector.disconnect(client, place.file, _now()):
            case Refused() as refused:
                return _outcome(place, "refused", refused.reason)
            case Disconnected(edited=True, backup=backup) if backup is not None:
                return _outcome(place, "disconnected", f"Disconnected. The entry had been edited by hand; {backup} holds it.")
            case Disconnected():
                return _outcome(place, "disconnected", "Disconnected.")
            case _:
                return _outcome(place, "unchanged", "It was not connected.")

    return _everywhere(client, at)


def test(root: Path, name: str) -> AssistantDone:
    """Start what stands in an assistant's configuration the way the assistant would. Raises `NotFoundError`."""
    client = _client(name)
    return _everywhere(client, lambda place: _tried(client, place))


def _client(name: str) -> Client:
    found = next((client for client in CLIENTS if client.id == name), None)
    if found is None:
        raise NotFoundError("No assistant of this name is known here; nothing was done. `lean-memory clients` lists those that are.")
    return found


def _everywhere(client: Client, act: Callable[[Place], AssistantOutcome]) -> AssistantDone:
    """In every place where it is installed; where it is in none, in the first one, where it would look."""
    places = places_of(client, Computer.this())
    outcomes = tuple(act(place) for place in [place for place in places if place.installed] or places[:1])
    return AssistantDone(id=client.id, outcomes=outcomes, sentence=" ".join(_once(one.sentence for one in outcomes)))


def _once(sentences: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(sentences)


def _tried(client: Client, place: Place) -> AssistantOutcome:
    try:
        launch = launch_of(client, entries_of(client).find(read_config(place.file).text, SERVER_NAME))
    except (ConfigFileError, ValueError) as error:
        return _outcome(place, "silent", f"Its configuration cannot be read ({error}).")
    if launch is None:
        return _outcome(place, "silent", "Its configuration has no entry that starts the memory.")
    hands = shake_hands(launch)
    if isinstance(hands, Answered) and hands.trouble is None:
        sentence = f"Started as {client.name} would: {len(hands.tools)} tools answered in {hands.seconds:.1f} s."
        return _outcome(place, "answered", sentence)
    reason = hands.trouble if isinstance(hands, Answered) else hands.reason
    return _outcome(place, "silent", f"Started as {client.name} would, the memory did not work: {reason}")


def _outcome(place: Place, outcome: str, sentence: str) -> AssistantOutcome:
    return AssistantOutcome(file=str(place.file), outcome=outcome, sentence=sentence)


def _now() -> datetime:
    return datetime.now(UTC).astimezone()
