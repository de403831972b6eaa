"""Where sentences end, who says them, and what a passage is."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from lean_memory.extraction.prose import prose
from lean_memory.extraction.sentences import passages, sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_abbreviations_and_initials_do_not_end_a_sentence() -> None:
    assert texts("Dr. Lee met J. R. Smith at 9 a.m. sharp. They left.") == ["Dr. Lee met J. R. Smith at 9 a.m. sharp.", "They left."]


def test_a_number_at_the_end_of_a_sentence_ends_it() -> None:
    assert texts("I'm 43. I live in Cork.") == ["I'm 43.", "I live in Cork."]


def test_bullets_headings_and_numbers_are_their_own_sentences_without_their_marks() -> None:
    found = list(sentences("## Team\n* We use Go\n- Ana leads\n1. Ship it"))
    assert [sentence.text for sentence in found] == ["Team", "We use Go", "Ana leads", "Ship it"]
    assert [sentence.is_heading for sentence in found] == [True, False, False, False]


def test_a_quotation_stays_in_its_sentence() -> None:
    assert texts('She said, "I quit. I mean it." Then she left.') == ['She said, "I quit. I mean it." Then she left.']


def test_a_speaker_prefix_names_who_says_it_and_a_label_does_not() -> None:
    assert [(s.speaker, s.text) for s in sentences("Caroline: I paint.")] == [("Caroline", "I paint.")]
    assert next(iter(sentences("Correction: 8082"))).speaker is None


def test_a_role_before_a_line_is_no_part_of_it_and_nobodys_name() -> None:
    (said,) = sentences("user: I moved to Porto.")
    assert (said.text, said.speaker, said.span.start) == ("I moved to Porto.", None, 6)


def test_spans_point_into_the_text() -> None:
    text = "  Hello there.  I live in Bath!\n- One\n"
    assert all(text[s.span.start : s.span.end] == s.text for s in sentences(text))


@pytest.mark.parametrize(
    "pasted",
    [
        "```python\nname = 'Ana'\n```",
        'Traceback (most recent call last):\n  File "a.py", line 1, in run\nValueError: I live in Rome',
        "2026-03-09 11:02:17,553 INFO gateway: I live in Rome",
        '{"name": "Ana", "city": "Rome"}',
        "FAILED test_sync.py::test_retry - TimeoutError",
        "diff --git a/x b/x\n+++ b/x\n@@ -1 +1 @@",
        "> I live in Rome",
    ],
)
def test_code_logs_and_quoted_mail_are_no_prose(pasted: str) -> None:
    assert not prose(pasted).strip()


def test_the_prose_around_code_stays_at_its_place() -> None:
    text = "I live in Bath.\n```\nx = 1\n```\nI work at Acme."
    masked = prose(text)
    assert len(masked) == len(text)
    assert texts(masked) == ["I live in Bath.", "I work at Acme."]


def test_a_short_turn_is_one_passage() -> None:
    assert [(span.start, span.end) for span in passages("  I live in Bath. I like tea. ")] == [(2, 29)]


@pytest.mark.parametrize("text", ["x" * 100_000, "a " * 40_000, "One sentence here. " * 5_000, "。" * 5_000, "line\n" * 20_000])
def test_passages_are_bounded_and_cover_everything(text: str) -> None:
    spans = passages(text)
    covered = "".join(text[span.start : span.end] for span in spans)
    assert max(span.end - span.start for span in spans) <= 600
    assert "".join(covered.split()) == "".join(text.split())
    assert all(before.end <= after.start for before, after in pairwise(spans))


def test_blank_text_has_no_passage() -> None:
    assert passages(" \n\t ") == ()


@pytest.mark.parametrize("unit", ["x", "a ", "<", "`a", ". ", "\n", '"a" ', " ", "QmFz=", "I "])
def test_time_grows_with_the_length_of_the_text_not_with_its_square(unit: str) -> None:
    def seconds(count: int) -> float:
        text = (unit * count)[:count]
        started = time.process_time()
        list(sentences(prose(text)))
        passages(text)
        return time.process_time() - started

    assert seconds(200_000) < 12 * seconds(50_000) + 0.5
