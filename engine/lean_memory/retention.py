"""How long things are kept, where a person said so: rules that put away or ask, and never erase by themselves. There are none by default.

Each rule is a small file of its own in `retention/` of the data root, so that several programs can set and remove them at once.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from lean_memory.domain import Instant
from lean_memory.errors import InvalidInputError, NotFoundError, quoted
from lean_memory.private_files import private_folder, replace_private

FOLDER = "retention"
MOST_DAYS = 36_500
DAY_MS = 86_400_000


class Act(StrEnum):
    """What a rule does with what has become old."""

    PUT_AWAY = "put-away"
    """It leaves the latest searches and stays findable for past dates and on request. What is vital, or was to be kept, stays where it is."""
    ASK = "ask"
    """The person is asked whether it is to be erased; without an answer it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What happens to facts that nobody has said for so many days."""

    id: str
    """One for each namespace, client and act: setting the same again changes the days."""
    namespace: str | None
    """`None` stands for every namespace,"""
    client: str | None
    """and here for everybody; otherwise facts that this client alone has passed on."""
    days: int
    act: Act

    def before(self, now: Instant) -> Instant:
        """What was said last before this moment is old."""
        return Instant(now - self.days * DAY_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a data root, and which of their files could not be understood, a sentence each."""

    rules: tuple[Rule, ...]
    problems: tuple[str, ...] = ()

    def of(self, namespace: str) -> tuple[Rule, ...]:
        """The rules that hold in a namespace."""
        return tuple(rule for rule in self.rules if rule.namespace in (None, namespace))


def rule_of(*, namespace: str | None, client: str | None, days: int, act: str) -> Rule:
    """A rule. Raises `InvalidInputError` for one that names neither a namespace nor a client, or no time that can be meant."""
    if namespace is None and client is None:
        raise InvalidInputError(
            "Say for which namespace or which client the rule is; a rule for everything there is is not made by accident."
        )
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInputError(f"A rule's days must be between 1 and {MOST_DAYS:,}. Nothing was set.")
    try:
        wanted = Act(act)
    except ValueError as error:
        raise InvalidInputError(f"A rule may {' or '.join(Act)}, and not {quoted(act)}. Nothing was set.") from error
    scope = json.dumps([namespace, client, wanted.value])
    return Rule(id=hashlib.sha256(scope.encode()).hexdigest()[:12], namespace=namespace, client=client, days=days, act=wanted)


def read_rules(root: Path) -> Rules:
    """The rules of a data root, by namespace, client and days."""
    held, problems = _held(root)
    # One that lies there twice is one.
    return Rules(rules=tuple(sorted(set(held.values()), key=_order)), problems=problems)


def write_rule(root: Path, rule: Rule) -> None:
    """Let a rule hold from now on. Raises `OSError`."""
    private_folder(root / FOLDER)
    path = root / FOLDER / f"{rule.id}.json"
    told = asdict(rule)
    del told["id"]
    replace_private(path, json.dumps(told, indent=1) + "\n")
    for other, held in _held(root)[0].items():
        if held.id == rule.id and other != path:
            # Of a file that a person named, in which the rule had other days.
            other.unlink(missing_ok=True)


def remove_rule(root: Path, rule_id: str) -> Rule:
    """Let a rule hold no longer; gives it. What it did stays, and can be reverted. Raises `NotFoundError`."""
    # From where it was read, which may be a file that a person named.
    meant = {path: rule for path, rule in _held(root)[0].items() if rule.id == rule_id}
    if not meant:
        raise NotFoundError(f"There is no rule {quoted(rule_id)}; nothing was removed.")
    for path in meant:
        path.unlink(missing_ok=True)
    return next(iter(meant.values()))


def drop_rules_of(root: Path, namespace: str) -> tuple[str, ...]:
    """Remove the rules that name a namespace which is no more; gives the files of those that could not be removed."""
    left: list[str] = []
    for path, rule in _held(root)[0].items():
        if rule.namespace == namespace:
            try:
                path.unlink(missing_ok=True)
            except OSError:
                left.append(str(path))
    return tuple(left)


def _held(root: Path) -> tuple[dict[Path, Rule], tuple[str, ...]]:
    """The rules by their files, and a sentence for each file that is none."""
    found: dict[Path, Rule] = {}
    problems: list[str] = []
    for path in sorted((root / FOLDER).glob("*.json")):
        try:
            found[path] = _read(path)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, TypeError, KeyError, RecursionError, InvalidInputError):
            problems.append(f"{path} is no rule that can be understood, and nothing is done by it. Delete it, and set what you want anew.")
    return found, tuple(problems)


def _read(path: Path) -> Rule:
    told = cast("dict[str, Any]", json.loads(path.read_bytes()))
    namespace, client, days = told["namespace"], told["client"], told["days"]
    if (
        not isinstance(days, int)
        or isinstance(days, bool)
        or not all(name is None or isinstance(name, str) for name in (namespace, client))
    ):
        raise ValueError(path)
    return rule_of(namespace=namespace, client=client, days=days, act=str(told["act"]))


def _order(rule: Rule) -> tuple[str, str, int, str]:
    return rule.namespace or "", rule.client or "", rule.days, rule.act
