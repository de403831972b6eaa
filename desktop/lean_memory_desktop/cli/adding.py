"""`lean-memory add`: one text from the command line or standard input, or many lines of it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, TypedDict

from lean_memory_desktop.cli.console import complain, counted, progress, say, write_json
from lean_memory_desktop.cli.json_form import added_form
from lean_memory_desktop.cli.moments import read_moment
from lean_memory_desktop.cli.opening import fact_by_id, open_memory, zone_of
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory import AddResult
    from lean_memory_desktop.cli.opening import AnyMemory

_BATCH = 50


class Saying(TypedDict):
    """The arguments of one `add` that do not depend on the text."""

    t_ref: int | None
    tz: str | None
    source: str
    client: str | None
    relearn: bool


def add(options: Options) -> int:
    """Remember what was given, and say what became of it."""
    saying = Saying(
        t_ref=read_moment(options.t_ref, "--t-ref", zone_of(options)),
        tz=options.tz,
        source=options.source,
        client=options.client,
        relearn=options.again,
    )
    if options.lines:
        return _add_lines(options, saying)
    text = _text(options)
    with open_memory(options) as memory:
        result = memory.add(options.namespace, text, **saying)
        if options.json:
            write_json({"namespace": options.namespace, **added_form(result)})
        else:
            _report(memory, options.namespace, result)
    return Exit.FINE


def _text(options: Options) -> str:
    if options.words and options.words != ["-"]:
        return " ".join(options.words)
    if not options.words and sys.stdin.isatty():
        raise BadUseError('There is nothing to remember; write it after the command, as in: lean-memory add "I work at Acme Corp."')
    return read_standard_input()


def read_standard_input() -> str:
    """All of standard input: UTF-8 or UTF-16 with its mark, else in the console's own encoding."""
    raw = sys.stdin.buffer.read()
    encodings = ["utf-16"] if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", sys.stdin.encoding or "utf-8"]
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise BadUseError(f"Standard input is not text in {' or '.join(encodings)}; nothing was stored. Save it as UTF-8 and try again.")


def _add_lines(options: Options, saying: Saying) -> int:
    if options.words and options.words != ["-"]:
        raise BadUseError("--lines reads standard input; leave out the text, or leave out --lines.")
    lines = [(number, line.strip()) for number, line in enumerate(read_standard_input().splitlines(), start=1) if line.strip()]
    if not lines:
        raise BadUseError("Standard input holds no line to remember; nothing was stored.")
    intake = _Intake(options.namespace, saying)
    with open_memory(options) as memory, PoliteInterrupt() as interrupt, progress(len(lines), "Remembering") as bar:
        for start in range(0, len(lines), _BATCH):
            if interrupt.asked:
                break
            batch = lines[start : start + _BATCH]
            intake.take(memory, batch)
            bar.advance(len(batch))
    return intake.report(options, total=len(lines), interrupted=interrupt.asked)


class _Intake:
    """What has come of the lines so far."""

    def __init__(self, namespace: str, saying: Saying) -> None:
        self._namespace = namespace
        self._saying = saying
        self._results: list[tuple[int, AddResult]] = []
        self._refused: list[tuple[int, str]] = []

    def take(self, memory: AnyMemory, batch: Sequence[tuple[int, str]]) -> None:
        """Add the lines of one batch; a line that cannot be stored is noted and costs none of the others."""
        from lean_memory.errors import InvalidTextError

        try:
            results = memory.add_many(self._namespace, [{"text": line, **self._saying} for _, line in batch])
        except InvalidTextError as error:
            if len(batch) == 1:
                self._refused.append((batch[0][0], str(error)))
                return
            for numbered in batch:
                self.take(memory, [numbered])
        else:
            self._results += [(number, result) for (number, _), result in zip(batch, results, strict=True)]

    def report(self, options: Options, *, total: int, interrupted: bool) -> int:
        """Say what was kept, and choose the exit code."""
        kept, learned = len(self._results), sum(len(result) for _, result in self._results)
        superseded = sum(len(result.superseded) for _, result in self._results)
        redacted = sorted({kind for _, result in self._results for kind in result.redacted})
        if options.json:
            added = [{"line": number, **added_form(result)} for number, result in self._results]
            refused = [{"line": number, "error": error} for number, error in self._refused]
            write_json(
                {"namespace": self._namespace, "lines": total, "kept": kept, "interrupted": interrupted, "added": added, "refused": refused}
            )
        else:
            say(f"{kept} of {total} lines kept: {learned} new facts, {superseded} superseded.")
            if redacted:
                say(f"Secrets were taken out before anything was written: {', '.join(redacted)}.")
        for number, error in self._refused:
            complain(f"Line {number}: {error}")
        if interrupted:
            complain(f"Stopped after {kept} of {total} lines; those are kept. Give the remaining lines to go on.")
            return Exit.INTERRUPTED
        return Exit.FAILED if self._refused else Exit.FINE


class PoliteInterrupt:
    """The first Ctrl-C lets the batch in hand finish; the second stops at once."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> PoliteInterrupt:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, _signal: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def _report(memory: AnyMemory, namespace: str, result: AddResult) -> None:
    for heading, ids in (("Learned:", result), ("Known already:", result.existing), ("No longer current:", result.superseded)):
        if ids:
            say(heading)
            for fact_id in ids:
                fact = fact_by_id(memory, namespace, fact_id)
                say(f"{fact.fact_text}  [{fact.subject} / {fact.predicate} / {fact.object}]", indent=2)
    if result.episode_id is not None and not (result.fact_ids or result.existing or result.superseded or result.queued):
        say("Kept as said; nothing durable was found in it.")
    if result.redacted:
        say(f"A secret was taken out before anything was written: {', '.join(result.redacted)}.")
    if result.echoed:
        say(f"{counted(result.echoed, 'statement')} only gave back what the memory had just answered, which is no new evidence.")
    if "instruction-like" in result.flags:
        say("It tries to instruct an assistant: that part is kept as text, flagged, and nothing was learned from it.")
    if result.withheld:
        say(
            f"Not learned, because you had it forgotten: {counted(result.withheld, 'statement')}. Add --again to have it learned after all."
        )
    if result.queued:
        say("More may be learned from it when a model is there.")
