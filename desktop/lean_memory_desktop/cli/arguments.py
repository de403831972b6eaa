"""The words that `lean-memory` understands."""

from __future__ import annotations

import argparse
from typing import Any, Protocol

from lean_memory_desktop.cli.options import DEFAULT_NAMESPACE, Options

ABOUT = "A private memory on this computer: facts that change are superseded, never lost, and any past moment can be asked for."
EXAMPLES = """\
lean-memory without a command is the desktop app: an icon in the tray that keeps the memory running.

try:
  lean-memory demo                                       see the main job done, in a temporary folder
  lean-memory add "I work at Acme Corp."                 tell it something
  lean-memory search "where does the user work?"         ask
  lean-memory facts                                      list what holds now
  lean-memory search employer --as-of 2024-05-31         ask what held then
"""
_KINDS = ("merge", "demotion", "summary", "same_entity", "conflict", "forget")
SOURCES = ("lean-memory", "chatgpt", "claude", "mem0", "basic-memory", "mcp-memory", "text")
_MOMENT = "an ISO date or date and time; without an offset it is local time"


def parse(arguments: list[str]) -> Options:
    """The options in `arguments`; leaves the process with 2 and a usage line when they make no sense."""
    return build_parser().parse_args(arguments, namespace=Options())


def build_parser() -> argparse.ArgumentParser:
    """The whole grammar. Defaults are those of `Options`, so an option may stand before or after the command."""
    parser = argparse.ArgumentParser(
        prog="lean-memory",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    _add_starting(parser)
    _common(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add(_command(commands, "add", "tell the memory something"))
    _search(_command(commands, "search", "ask a question"))
    _facts(_command(commands, "facts", "list facts: those that hold now, or held then"))
    _history(_command(commands, "history", "show how one fact came to be and what became of it"))
    _history(_command(commands, "explain", "say why one fact is held: its source, the rule that read it, its doubts, what it ended"))
    _forget(_command(commands, "forget", "erase facts so that no byte of them is left"))
    _clear(_command(commands, "clear", "erase a whole namespace"))
    finish = _command(commands, "finish", "let the models that are set add to what waits for them, and make missing vectors")
    finish.add_argument("--limit", type=_positive, metavar="N", help="at most so many texts")
    _add_owning(commands)
    _add_retention(commands)
    _add_upkeep(commands)
    _command(commands, "namespaces", "list the namespaces")
    _command(commands, "status", "counts and sizes")
    doctor = _command(commands, "doctor", "check the data folder, everything in it, the service and the connections")
    doctor.add_argument("--repair", action="store_true", help="connect anew what is connected to another installation")
    _connect(_command(commands, "connect", "let an assistant use the memory"))
    _disconnect(_command(commands, "disconnect", "take our entry out of an assistant's configuration"))
    _clients(_command(commands, "clients", "list the assistants and how they stand; token, pause, resume, access, snippet"))
    _models(_command(commands, "models", "see, fetch, choose and remove the models of better search; nothing is fetched unasked"))
    opening = _command(commands, "open", "open the memory's page in your browser")
    opening.add_argument("--print", dest="only_print", action="store_true", help="print the address instead; it lets in one browser, once")
    _serve(_command(commands, "serve", "run the memory service in this terminal"))
    _demo(_command(commands, "demo", "see the main job done in a temporary folder"))
    _chat(_command(commands, "chat", "talk to a small assistant that remembers what you type"))
    return parser


class _Commands(Protocol):
    """What `ArgumentParser.add_subparsers` gives; argparse keeps the class private."""

    def add_parser(self, name: str, **keywords: Any) -> argparse.ArgumentParser: ...


def _add_starting(parser: argparse.ArgumentParser) -> None:
    """How the tray is started by others than a person in a terminal."""
    # What a click on the program's entry in a menu says: who has just installed it is to see the first steps, and not an icon alone.
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)
    # Entered where a system starts programs at login: there the window does not open by itself.
    parser.add_argument("--at-login", action="store_true", help=argparse.SUPPRESS)


def _add_upkeep(commands: _Commands) -> None:
    about = "tidy the memory: a dry run without --apply; also status, stop, pause, resume, at HH:MM, agents on|off"
    _maintain(_command(commands, "maintain", about))
    _review(_command(commands, "review", "show what the memory proposes and you may decide"))
    _decide(_command(commands, "decide", "decide what is proposed"))
    _revert(_command(commands, "revert", "take back what a run did, or a decision"))
    _history(_command(commands, "promote", "bring back a fact that was put away as unimportant, for good"))


def _add_owning(commands: _Commands) -> None:
    backup = _command(commands, "backup", "copy every namespace, or the one named with -n, while assistants go on")
    backup.add_argument("words", nargs="?", action=_AsList, metavar="FOLDER", help="a new folder (default: one in the data folder)")
    backup.add_argument("--list", dest="listed", action="store_true", help="list the backups in the data folder instead")
    backup.add_argument("--verify", action="store_true", help="read the named backup whole instead, and say whether it can be used")
    backup.add_argument("--scrub", action="store_true", help="make those backups again without it that hold what you forgot since, instead")
    restore = _command(
        commands, "restore", "bring back what a backup holds, but for what was forgotten since; lists the backups without a word"
    )
    restore.add_argument("words", nargs="?", action=_AsList, metavar="BACKUP", help="its name or folder, or one file of it")
    restore.add_argument("--yes", action="store_true", help="do not ask")
    export = _command(commands, "export", "write a namespace to one file: FILE.leanmem for another memory, FILE.md for people")
    export.add_argument("words", nargs=1, metavar="FILE", help="where to write it")
    export.add_argument("--passphrase", action="store_true", help="put the bundle under a passphrase ($LM_PASSPHRASE, else asked for)")
    bring = _command(commands, "import", "show what a bundle would add and change, and where it contradicts what is here")
    bring.add_argument("words", nargs=1, metavar="FILE", help="a bundle (.leanmem)")
    bring.add_argument("--apply", action="store_true", help="do it")
    bring.add_argument("--passphrase", action="store_true", help="the bundle is under a passphrase ($LM_PASSPHRASE, else asked for)")
    _bring_in(_command(commands, "bring-in", "take in what you have elsewhere: chats, other memories, notes, older files"))


def _add_retention(commands: _Commands) -> None:
    about = "say how long things are kept: rules that put away or ask you, and never erase by themselves; set, remove, or list them"
    retention = _command(commands, "retention", about)
    retention.add_argument("words", nargs="*", metavar="set | remove ID", help="nothing to list the rules")
    retention.add_argument("--days", type=_positive, metavar="N", help="with set: what nobody has said for so many days")
    retention.add_argument("--from-client", metavar="NAME", help="with set: only what this assistant or program alone has passed on")
    retention.add_argument("--ask", action="store_true", help="with set: ask whether to erase it, instead of putting it away")


def _bring_in(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="?", action=_AsList, metavar="PATH", help="a file or folder; without one, older files here are listed"
    )
    parser.add_argument("--from", dest="kind", metavar="KIND", help=f"what it is, where that is not seen: {', '.join(SOURCES)}")
    parser.add_argument("--dry-run", action="store_true", help="say what would come of it, and write nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


class _AsList(argparse.Action):
    """Keeps one word, or none, as every command has its words."""

    def __call__(self, parser: object, namespace: argparse.Namespace, values: object, option_string: str | None = None) -> None:
        namespace.words = [] if values is None else [str(values)]


def _command(commands: _Commands, name: str, about: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".", argument_default=argparse.SUPPRESS)
    _common(parser)
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=_folder, metavar="FOLDER", help="the data folder (default: $LM_DATA_ROOT, else ~/.lean_memory)")
    parser.add_argument("-n", "--namespace", metavar="NAME", help=f"whose memory (default: {DEFAULT_NAMESPACE})")
    parser.add_argument("--tz", metavar="ZONE", help="IANA time zone for dates read and shown (default: $LM_TZ, else this computer's)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="TEXT", help="what to remember; - or nothing reads standard input")
    parser.add_argument("--lines", action="store_true", help="standard input holds one statement a line")
    parser.add_argument("--t-ref", metavar="WHEN", help=f"when it was said: {_MOMENT} (default: now)")
    parser.add_argument("--source", choices=("user", "assistant", "tool", "doc", "import"), help="who said it (default: user)")
    parser.add_argument("--client", metavar="NAME", help="the program that passes it on")
    parser.add_argument("--again", action="store_true", help="learn it even if you had it forgotten")


def _search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="QUESTION", help="the question, in your own words")
    parser.add_argument("-k", "--k", type=_positive, metavar="N", help="how many answers at most (default: 5)")
    _when(parser)
    parser.add_argument("--verbose", action="store_true", help="show every score and the source sentence")


def _facts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subject", metavar="NAME", help="only facts about this one (you are: user)")
    parser.add_argument("--predicate", metavar="NAME", help="only facts of this kind, e.g. works_at")
    _when(parser)
    parser.add_argument("--limit", type=_positive, metavar="N", help="at most so many")
    parser.add_argument("--verbose", action="store_true", help="show which pass and rule found each fact, and how sure it is")


def _when(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--as-of", metavar="WHEN", help=f"answer with what held at that moment: {_MOMENT}")
    parser.add_argument("--known-at", metavar="WHEN", help="answer with what the memory knew at that moment")
    parser.add_argument("--history", action="store_true", help="include what no longer holds")
    parser.add_argument("--include-cold", action="store_true", help="include facts put away as unimportant")


def _history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs=1, metavar="FACT", help="a fact's id, or the last characters of it")


def _forget(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="FACT", help="ids of facts, or the last characters of them")
    parser.add_argument("--episode", metavar="ID", help="everything learned from one message")
    parser.add_argument("--entity", metavar="NAME", help="everything about one person or thing")
    parser.add_argument("--matching", metavar="QUESTION", help="the answers to a question, shown before anything is erased")
    parser.add_argument("--sentence", metavar="TEXT", help="a sentence, wherever it stands in these words")
    parser.add_argument("--from-client", metavar="NAME", help="everything that one assistant or program passed on")
    parser.add_argument("--since", metavar="DATE", help="everything that was said from then on")
    parser.add_argument("--until", metavar="DATE", help="everything that was said before")
    parser.add_argument("-k", "--k", type=_positive, metavar="N", help="with --matching: how many answers at most (default: 5)")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _clear(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="NAMESPACE", help="the namespace to erase")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _maintain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="nothing to tidy; or one of the words above")
    parser.add_argument("--apply", action="store_true", help="do it, instead of saying what would be done")
    parser.add_argument("--auto-only", action="store_true", help="only what needs no decision")
    parser.add_argument("--force", action="store_true", help="with --apply: even where little is new since the last run")


def _review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", choices=_KINDS, help="only proposals of this kind")
    parser.add_argument("--entity", metavar="NAME", help="only those about this one")
    parser.add_argument("--limit", type=_positive, metavar="N", help="at most so many (default: 20)")
    parser.add_argument("--decided", action="store_true", help="what was decided last, instead")


def _decide(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="ID VERDICT", help="a proposal's id, or its last characters, and approve, reject, …")
    parser.add_argument("--text", metavar="TEXT", help="with edit: the summary in your words")
    parser.add_argument("--choice", metavar="CHOICE", help="with choose: one of the proposal's choices")
    parser.add_argument("--revision", type=_positive, metavar="N", help="only if it is still in this revision")
    parser.add_argument("--entity", metavar="NAME", help="all about this one, instead of an id; approve or reject")
    parser.add_argument("--kind", choices=_KINDS, help="with --entity: only those of this kind")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _revert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs=1, metavar="ID", help="the id of a run (maintain status) or of a proposal (review --decided)")


def _connect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="CLIENT", help="which assistants; without a name, every one that is installed")
    parser.add_argument("--replace", action="store_true", help="also where the entry was edited by hand, or is another program's")


def _disconnect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="CLIENT", help="which assistants; without a name, every one that is connected")


def _clients(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=_positive, metavar="N", help="with access: the last N uses (default: 50)")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="nothing; token NAME; pause NAME or resume NAME; access or access NAME for who used the memory; snippet for an unknown assistant",
    )


def _models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="status | pull [TIER] | use TIER | bundle FOLDER [TIER] | packages FILE | remove TIER",
        help="what to do (default: status)",
    )
    parser.add_argument("--from", dest="from_folder", metavar="FOLDER", help="with pull: copy from a bundle instead of the network")
    parser.add_argument("--use", action="store_true", help="with pull: use the tier once it is here")
    parser.add_argument("--yes", action="store_true", help="with remove: do not ask")


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--idle-exit", type=float, metavar="SECONDS", help="end when nobody has used it for so long")


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="NAME", help="your own names: a person, a new employer, a new city")
    parser.add_argument("--say", action="append", metavar="SENTENCE", help="a sentence of yours to remember (repeatable)")
    parser.add_argument("--interactive", action="store_true", help="type your own sentences and questions at the end")


def _chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="NAME", help="a model of your Ollama (default: $LM_TYPING_MODEL, else the first it has)")


def _folder(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; name a folder, or leave --root out for the usual one")
    return text


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)
