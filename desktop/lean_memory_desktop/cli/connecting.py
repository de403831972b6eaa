"""`lean-memory connect` and `disconnect`: our entry into the configuration of assistants and out of it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lean_memory_bridge.clients.catalogue import CLIENTS, Client, client_called
from lean_memory_bridge.clients.config_file import read_config
from lean_memory_bridge.clients.connecting import Connected, Connector, Disconnected, Refused, Unchanged
from lean_memory_bridge.clients.entry import SERVER_NAME, entries_of, launch_of, our_launch
from lean_memory_bridge.clients.handshake import Answered, Silent, shake_hands
from lean_memory_bridge.clients.ledger import Ledger
from lean_memory_bridge.clients.places import Computer, Place, places_of
from lean_memory_desktop.cli.console import complain, say, write_json
from lean_memory_desktop.cli.opening import data_root
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

Outcome = Connected | Unchanged | Disconnected | Refused
Form = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    client: Client
    outcome: Outcome
    hands: Answered | Silent | None = None

    @property
    def is_fine(self) -> bool:
        if isinstance(self.outcome, Refused) or isinstance(self.hands, Silent):
            return False
        return self.hands is None or self.hands.trouble is None


def connect(options: Options) -> int:
    """Connect the assistants named, or every installed one; each connection is tried out the way its assistant would start it."""
    root, computer = data_root(options), Computer.this()
    connector = Connector(Ledger(root))
    done: list[_Done] = []
    for client, place in _chosen(options.words, computer):
        launch = our_launch(client.id, root)
        outcome = connector.connect(client, place.file, launch, datetime.now(UTC).astimezone(), replacing=options.replace)
        hands = None if isinstance(outcome, Refused) else _tried(client, outcome.file)
        done.append(_Done(client=client, outcome=outcome, hands=hands))
        if not options.json:
            _report_connected(done[-1], place)
    configured = sum(1 for one in done if not isinstance(one.outcome, Refused))
    if options.json:
        write_json({"configured": configured, "clients": [_form(one) for one in done]})
    if not configured:
        found = "" if done else f" None of these was found here: {', '.join(client.name for client in CLIENTS)}. Name one to connect it."
        complain(f"0 clients configured.{found}")
    return Exit.FINE if done and all(one.is_fine for one in done) else Exit.FAILED


def disconnect(options: Options) -> int:
    """Take our entry out of the assistants named, or of every one that has it."""
    connector = Connector(Ledger(data_root(options)))
    places = _chosen(options.words, Computer.this())
    done = [
        _Done(client=client, outcome=connector.disconnect(client, place.file, datetime.now(UTC).astimezone())) for client, place in places
    ]
    if options.json:
        removed = sum(1 for one in done if isinstance(one.outcome, Disconnected))
        write_json({"disconnected": removed, "clients": [_form(one) for one in done]})
    else:
        _report_disconnected(done, named=bool(options.words))
    return Exit.FINE if all(one.is_fine for one in done) else Exit.FAILED


def _chosen(words: Sequence[str], computer: Computer) -> Iterator[tuple[Client, Place]]:
    """Every place of the clients named, installed or not; without a name, of the clients that are installed."""
    for client in [_client(word) for word in words] or CLIENTS:
        for place in places_of(client, computer):
            if words or place.installed:
                yield client, place


def _client(word: str) -> Client:
    found = client_called(word)
    if found is None:
        known = ", ".join(client.id for client in CLIENTS)
        raise BadUseError(f"There is no assistant called {word!r} here; known are {known}. For any other: lean-memory clients snippet.")
    return found


def _tried(client: Client, file: Path) -> Answered | Silent:
    """What answers when what stands in the file is started; the file is read anew, as the client reads it."""
    launch = launch_of(client, entries_of(client).find(read_config(file).text, SERVER_NAME))
    return Silent(reason="The entry starts nothing.") if launch is None else shake_hands(launch)


def _report_connected(done: _Done, place: Place) -> None:
    match done.outcome:
        case Refused():
            complain(f"{done.client.name}: {done.outcome.reason}")
            return
        case Connected():
            say(f"{done.client.name}: connected in {done.outcome.file}")
            if done.outcome.backup is not None:
                say(f"before: {done.outcome.backup}", indent=2)
            if done.outcome.warning is not None:
                complain(done.outcome.warning, indent=2)
            if not place.installed:
                say(f"{done.client.name} was not found here; the entry waits for it.", indent=2)
        case _:
            say(f"{done.client.name}: connected already in {done.outcome.file}")
    _report_hands(done)


def _report_hands(done: _Done) -> None:
    match done.hands:
        case Answered(trouble=None):
            hands = done.hands
            say(
                f"started as it would: {hands.name} {hands.version} answered with {len(hands.tools)} tools in {hands.seconds:.1f} s",
                indent=2,
            )
            say(done.client.applies, indent=2)
        case Answered():
            complain(f"{done.client.name}: the command starts, but the memory does not work: {done.hands.trouble}", indent=2)
        case Silent():
            complain(
                f"{done.client.name}: its command was started as it would start it, and nothing usable answered. {done.hands.reason}",
                indent=2,
            )
        case None:
            pass


def _report_disconnected(done: Sequence[_Done], *, named: bool) -> None:
    for one in done:
        match one.outcome:
            case Disconnected():
                say(f"{one.client.name}: disconnected; {one.outcome.file} is {'without our entry' if one.outcome.edited else 'as it was'}.")
                if one.outcome.edited and one.outcome.backup is not None:
                    say(f"The entry had been edited by hand; {one.outcome.backup} holds it.", indent=2)
            case Refused():
                complain(f"{one.client.name}: {one.outcome.reason}")
            case _ if named:
                say(f"{one.client.name}: was not connected.")
            case _:
                pass
    if not named and not any(isinstance(one.outcome, Disconnected | Refused) for one in done):
        say("No assistant was connected.")


def _form(done: _Done) -> Form:
    outcome, hands = done.outcome, done.hands
    form: Form = {"client": done.client.id, "name": done.client.name, "file": str(outcome.file), "outcome": _NAMES[type(outcome)]}
    match outcome:
        case Connected():
            form |= {"backup": _path(outcome.backup), "warning": outcome.warning}
        case Disconnected():
            form |= {"backup": _path(outcome.backup), "edited": outcome.edited}
        case Refused():
            form |= {"reason": outcome.reason}
        case Unchanged():
            pass
    match hands:
        case Answered():
            answered: Form = {
                "server": hands.name,
                "version": hands.version,
                "tools": list(hands.tools),
                "seconds": round(hands.seconds, 3),
            }
            form["handshake"] = {**answered, "trouble": hands.trouble}
        case Silent():
            form["handshake"] = {"trouble": hands.reason}
        case None:
            pass
    return form


_NAMES: dict[type[Outcome], str] = {Connected: "connected", Unchanged: "unchanged", Disconnected: "disconnected", Refused: "refused"}


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)
