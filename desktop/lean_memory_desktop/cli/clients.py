"""`lean-memory clients`: the assistants and how they stand, a token for a script, pausing, who used the memory, and a snippet."""

from __future__ import annotations

from pathlib import Path

from lean_memory_bridge.clients.catalogue import CLIENTS, Client
from lean_memory_bridge.clients.connecting import Connector, Standing
from lean_memory_bridge.clients.entry import SERVER_NAME, entries_of, entry_of, our_launch
from lean_memory_bridge.clients.ledger import Ledger
from lean_memory_bridge.clients.places import Computer, Place, places_of
from lean_memory_desktop.cli.console import complain, say, table, write_json
from lean_memory_desktop.cli.moments import show_moment
from lean_memory_desktop.cli.opening import data_root, zone_of
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

_USES = 50
_MEANINGS = {
    Standing.ABSENT: "",
    Standing.CONNECTED: "connected",
    Standing.OUTDATED: "connected to another installation; connect again",
    Standing.EDITED: "connected, entry edited by hand",
    Standing.FOREIGN: "another program has the name",
    Standing.UNREADABLE: "configuration cannot be read",
}


def clients(options: Options) -> int:
    """List the assistants; `token`, `pause`, `resume`, `access` and `snippet` do what they say."""
    match options.words:
        case []:
            return _listed(options)
        case ["token", name]:
            return _token(options, name)
        case ["snippet"]:
            return _snippet(options)
        case ["pause" | "resume" as word, name]:
            return _pause(options, name, paused=word == "pause")
        case ["access", *names] if len(names) <= 1:
            return _access(options, names[0] if names else None)
        case _:
            raise BadUseError(
                "Use: lean-memory clients, clients token NAME, clients pause NAME, clients resume NAME, clients access [NAME], or clients snippet."
            )


def _listed(options: Options) -> int:
    root, computer = data_root(options), Computer.this()
    connector = Connector(Ledger(root))
    found = [
        (client, place, connector.standing(client, place.file, our_launch(client.id, root)))
        for client in CLIENTS
        for place in places_of(client, computer)
    ]
    if options.json:
        write_json({"clients": [_form(*one) for one in found], "callers": _callers(root)})
        return Exit.FINE
    table(
        ["assistant", "name to connect", "installed", "memory", "configuration"],
        [
            [client.name, client.id, "yes" if place.installed else "", _MEANINGS[standing], str(place.file)]
            for client, place, standing in found
        ],
    )
    others = [caller for caller in _callers(root) if caller["has_token"]]
    for caller in others:
        say(f"{caller['name']} has a token{' and is paused' if caller['paused'] else ''}.")
    return Exit.FINE


def _form(client: Client, place: Place, standing: Standing) -> dict[str, object]:
    return {
        "client": client.id,
        "name": client.name,
        "file": str(place.file),
        "installed": place.installed,
        "standing": standing.value,
    }


def _callers(root: Path) -> list[dict[str, object]]:
    """Whom the service knows, by what it wrote down."""
    from lean_memory_bridge.client_book import ClientBook

    return [
        {"name": client.name, "has_token": client.token_hash is not None, "paused": client.paused, "namespace": client.default_namespace}
        for client in ClientBook(root).all()
    ]


def _token(options: Options, name: str) -> int:
    from lean_memory_bridge.client import ServiceClient
    from lean_memory_bridge.client_book import ClientBook

    root = data_root(options)
    service = ServiceClient.find(root)
    if service is not None:
        token, address = service.issue_token(name), service.live.address
    else:
        token, address = ClientBook(root).issue(name), None
    if options.json:
        write_json({"name": name, "token": token, "address": address})
    else:
        # Alone on standard output, so that a script can take it.
        say(token)
        complain(f"A token for {name}; an older one of that name no longer works. It is shown this once.")
        where = f"{address}/mcp" if address else "where runtime.json says, once `lean-memory serve` runs"
        complain(f"Send it as `Authorization: Bearer …` to {where}.")
    return Exit.FINE


def _pause(options: Options, name: str, *, paused: bool) -> int:
    """Keep a client out, or let it in again; a running service does so with its next call."""
    from lean_memory_bridge.client import ServiceClient
    from lean_memory_bridge.client_book import ClientBook
    from lean_memory_bridge.schemas import ClientChange

    root = data_root(options)
    service = ServiceClient.find(root)
    if service is not None:
        service.change_client(name, ClientChange(paused=paused))
    else:
        ClientBook(root).pause(name, paused)
    if options.json:
        write_json({"name": name, "paused": paused})
    else:
        say(f"{name} is paused: it neither reads nor writes until you resume it." if paused else f"{name} may use the memory again.")
    return Exit.FINE


def _access(options: Options, name: str | None) -> int:
    """Who used the memory last, and how; never what was said."""
    from lean_memory_bridge.access_log import AccessLog
    from lean_memory_bridge.client import ServiceClient

    root, limit = data_root(options), options.limit or _USES
    service = ServiceClient.find(root)
    entries = service.access(client=name, limit=limit).entries if service is not None else AccessLog(root).last(limit, name)
    if options.json:
        write_json({"entries": [entry.model_dump(mode="json") for entry in entries]})
        return Exit.FINE
    zone = zone_of(options)
    for entry in entries:
        where = "" if entry.namespace is None else f" in {entry.namespace}"
        say(f"{show_moment(entry.at, zone)}  {entry.sentence}{where}")
    if not entries:
        say("Nobody used the memory yet." if name is None else f"{name} has not used the memory yet.")
    return Exit.FINE


def _snippet(options: Options) -> int:
    like = CLIENTS[0]
    launch = our_launch("other", data_root(options))
    if options.json:
        write_json({"mcpServers": {SERVER_NAME: entry_of(like, launch)}})
        return Exit.FINE
    print(entries_of(like).shown(SERVER_NAME, entry_of(like, launch)))
    complain("Most assistants take this under Settings, MCP. LM_CLIENT is the name under which it appears among the clients.")
    return Exit.FINE
