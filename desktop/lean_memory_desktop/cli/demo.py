"""`lean-memory demo`: the main job in a terminal, in a temporary folder that is gone afterwards.

Nothing here knows an answer: every line marked `->` is what a call of the public library returned.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from lean_memory import Memory
from lean_memory_desktop.cli.console import say, write_json
from lean_memory_desktop.cli.demo_story import Cast, Story
from lean_memory_desktop.cli.opening import zone_of
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

_DAY_MS = 86_400_000
_MINUTE_MS = 60_000


def demo(options: Options) -> int:
    """Tell, change, ask now and then, correct, ask in other words, tidy up, forget; then whatever the person says."""
    if options.interactive and options.json:
        raise BadUseError("--interactive talks to a person and --json to a program; give one of them.")
    cast = Cast.named(options.words)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lean-memory-demo-") as folder, Memory(root=folder) as memory:
        story = Story(memory=memory, namespace=cast.person, zone=zone_of(options), silent=options.json)
        _play(story, cast, Path(folder))
        _let_speak(story, options.say)
        took = time.monotonic() - started
        if options.interactive:
            _converse(story)
    if options.json:
        write_json({"namespace": cast.person, "seconds": round(took, 3), "steps": story.steps})
    else:
        say()
        say(f"That was {story.calls} calls of the library in {took:.1f} s, in a temporary folder that is gone now.")
        say('Yours begins with: lean-memory add "...", or type here yourself: lean-memory demo --interactive')
    return Exit.FINE


def _play(story: Story, cast: Cast, folder: Path) -> None:
    now = time.time_ns() // 1_000_000
    first_year, change, between = now - 400 * _DAY_MS, now - 60 * _DAY_MS, now - 200 * _DAY_MS

    story.chapter("Told, some time ago")
    for sentence in (
        f"My name is {cast.person}.",
        f"I work at {cast.old_employer}.",
        f"I live in {cast.old_city}.",
        "I am allergic to peanuts.",
    ):
        story.tell(sentence, first_year)

    story.chapter("Changed")
    story.tell(f"I now work at {cast.employer}.", change)

    story.chapter("Asked now, and as of then")
    question = "where does the user work?"
    story.ask(question)
    story.ask(question, as_of=between)
    story.trace("works_at")

    story.chapter("Corrected: the same date, another value; what was believed before is kept")
    story.tell(f"I moved to {cast.mistaken_city}.", change)
    mistaken = story.current("lives_in")
    story.tell(f"Sorry, I meant {cast.city}.", change + _MINUTE_MS)
    story.list("lives_in")
    if mistaken is not None:
        story.ask("which city does the user live in?", known_at=mistaken.recorded_at)

    story.chapter("Asked in other words")
    story.ask("Which company pays my salary?")
    story.ask("What food is dangerous for me?")

    _tidy(story, first_year, change)
    story.chapter("Forgotten, to the last byte")
    story.count_bytes("peanuts", folder)
    story.forget("allergic_to")
    story.list("allergic_to")
    story.count_bytes("peanuts", folder)


def _tidy(story: Story, early: int, late: int) -> None:
    story.chapter("Tidied at night: what is proposed is decided by you")
    story.tell("I like long walks by the river.", early)
    story.tell("I love a long walk by the river.", late)
    story.tidy()
    story.list("likes")


def _let_speak(story: Story, sentences: Sequence[str]) -> None:
    if not sentences:
        return
    story.chapter("In your words")
    for sentence in sentences:
        story.hear(sentence)


def _converse(story: Story) -> None:
    story.chapter("Your turn: type a sentence to be remembered, a question with ? at its end, or nothing to leave")
    while True:
        print("you> ", end="", flush=True)
        line = sys.stdin.readline()
        if not line.strip():
            return
        story.hear(line.strip())
