"""`lean-memory retention`: how long things are kept, where the person says so. There are no rules by default, and none erases by itself."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import complain, counted, say, table, write_json
from lean_memory_desktop.cli.opening import open_files
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory import Memory
    from lean_memory.retention import Rule

_USE = (
    "Use: lean-memory retention, retention set --days N with -n NAME or --from-client NAME or both, and --ask where you want to be asked, "
    "or retention remove ID."
)
_SHOWN = 20
_DOES = {"put-away": "is put away", "ask": "you are asked whether to erase it"}


def retention(options: Options) -> int:
    """List the rules, set one, or remove one."""
    with open_files(options) as memory:
        match options.words:
            case [] | ["list"]:
                return _list(options, memory)
            case ["set"] if options.days is not None:
                return _set(options, memory, options.days)
            case ["remove", rule_id]:
                return _remove(options, memory, rule_id)
            case _:
                raise BadUseError(_USE)


def _list(options: Options, memory: Memory) -> int:
    found = memory.retention()
    if options.json:
        write_json({"rules": [asdict(rule) for rule in found.rules], "problems": list(found.problems)})
    elif not found.rules:
        say("There are no rules: everything is kept until you forget it.")
    else:
        rows = [(rule.id, rule.namespace or "all", rule.client or "all", str(rule.days), _DOES[rule.act]) for rule in found.rules]
        table(("id", "namespace", "told by", "days unsaid", "then it"), rows)
    for sentence in () if options.json else found.problems:
        complain(sentence)
    return Exit.FINE


def _set(options: Options, memory: Memory, days: int) -> int:
    namespace = options.namespace if "namespace" in vars(options) else None
    act = "ask" if options.ask else "put-away"
    concerned = memory.would_retain(namespace=namespace, client=options.from_client, days=days, act=act)
    rule = memory.set_retention(namespace=namespace, client=options.from_client, days=days, act=act)
    if options.json:
        write_json({**asdict(rule), "concerned": [{"namespace": name, "text": text} for name, text in concerned]})
        return Exit.FINE
    say(f"From now on: {_said(rule)} The nightly tidying goes by it; lean-memory retention remove {rule.id} ends it.")
    say(f"Today that is {counted(len(concerned), 'fact')}{':' if concerned else '.'}")
    for name, text in concerned[:_SHOWN]:
        say(f"{name}: {text}", indent=2)
    if len(concerned) > _SHOWN:
        say(f"and {len(concerned) - _SHOWN} more (--json lists all)", indent=2)
    return Exit.FINE


def _remove(options: Options, memory: Memory, rule_id: str) -> int:
    rule = memory.remove_retention(rule_id)
    if options.json:
        write_json({"removed": asdict(rule)})
    else:
        say(f"No longer: {_said(rule)} What was put away by it stays so; lean-memory revert takes a run back.")
    return Exit.FINE


def _said(rule: Rule) -> str:
    whose = "what nobody has" if rule.client is None else f"what {rule.client!r} alone has told and nobody has"
    where = "" if rule.namespace is None else f" in {rule.namespace!r}"
    return f"{whose} said for {counted(rule.days, 'day')}{where}: {_DOES[rule.act]}."
