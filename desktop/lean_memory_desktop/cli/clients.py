"""`lean-memory clients`: the assistants and how they stand, a token for a script, and a snippet for an assistant we do not know."""

from __future__ import annotations

from pathlib import Path

from lean_memory_bridge.clients.catalogue import CLIENTS, Client
from lean_memory_bridge.clients.connecting import Connector, Standing
from lean_memory_bridge.clients.entry import SERVER_NAME, entries_of, entry_of, our_launch
from lean_memory_bridge.clients.ledger import Ledger
from lean_memory_bridge.clients.places import Computer, Place, places_of
from lean_memory_desktop.cli.console import complain, say, table, write_json
from lean_memory_desktop.cli.opening import data_root
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

_MEANINGS = {
    Standing.ABSENT: "",
    Standing.CONNECTED: "connected",
    Standing.OUTDATED: "connected to another installation; connect again",
    Standing.EDITED: "connected, entry edited by hand",
    Standing.FOREIGN: "another program has the name",
    Standing.UNREADABLE: "configuration cannot be read",
}


def clients(options: Options) -> int:
    """List the assistants; `token NAME` makes a token, `snippet` shows what to copy."""
    match options.words:
        case []:
            return _listed(options)
        case ["token", name]:
            return _token(options, name)
        case ["snippet"]:
            return _snippet(options)
        case _:
            raise BadUseError("Use: lean-memory clients, lean-memory clients token NAME, or lean-memory clients snippet.")


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


def _snippet(options: Options) -> int:
    like = CLIENTS[0]
    launch = our_launch("other", data_root(options))
    if options.json:
        write_json({"mcpServers": {SERVER_NAME: entry_of(like, launch)}})
        return Exit.FINE
    print(entries_of(like).shown(SERVER_NAME, entry_of(like, launch)))
    complain("Most assistants take this under Settings, MCP. LM_CLIENT is the name under which it appears among the clients.")
    return Exit.FINE
