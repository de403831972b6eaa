"""A model that is too slow for searches is left alone for a while, and tried again."""

from __future__ import annotations

import pytest

from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.models.rest import LONGEST, Rest


class Model:
    """A model with a rest, on a clock of its own; each call may take a second."""

    def __init__(self) -> None:
        self.now = 100.0
        self.asked = 0
        self.rest = Rest(now=lambda: self.now)

    def answers(self) -> None:
        with self.rest.watched(1.0):
            self.asked += 1

    def fails(self, *, after: float, error: type[ModelError] = ModelUnavailableError) -> None:
        with pytest.raises(ModelError), self.rest.watched(1.0):
            self.asked += 1
            self.now += after
            raise error("no answer")


def test_overrunning_once_is_forgiven_and_after_the_second_time_the_model_rests_and_says_so() -> None:
    model = Model()
    model.fails(after=0.9)
    assert model.rest.message == ""
    model.fails(after=0.9)
    assert model.rest.message == "It was too slow for 2 searches in a row and is not asked for 4 s."
    model.fails(after=0.9)
    assert model.asked == 2
    model.now += 4.1
    assert model.rest.message == ""
    model.answers()
    assert model.asked == 3


def test_each_rest_is_twice_as_long_as_the_one_before_up_to_five_minutes() -> None:
    model = Model()
    rests = list[float]()
    for _ in range(12):
        model.fails(after=1.0)
        before = model.now
        while model.rest.message:
            model.now += 1.0
        rests.append(model.now - before)
    assert rests == [0, 4, 8, 16, 32, 64, 128, 256, LONGEST, LONGEST, LONGEST, LONGEST]


def test_a_model_that_has_been_too_slow_for_weeks_still_rests() -> None:
    model = Model()
    for _ in range(1_100):
        model.fails(after=1.0)
        model.now += LONGEST + 1.0
    model.fails(after=1.0)
    assert model.rest.message.endswith("is not asked for 300 s.")


def test_an_answer_ends_it_and_the_count_begins_anew() -> None:
    model = Model()
    model.fails(after=0.9)
    model.answers()
    model.fails(after=0.9)
    assert model.rest.message == ""


def test_a_model_that_is_not_there_or_cannot_read_a_text_needs_no_rest() -> None:
    model = Model()
    for _ in range(5):
        model.fails(after=0.01)
        model.fails(after=0.9, error=ModelError)
    assert model.rest.message == ""
