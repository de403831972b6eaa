"""How often a process that dies is started again."""

from __future__ import annotations

from lean_memory_desktop.supervisor import Death, Patience

PATIENCE = Patience(pauses=(0.1, 1.0, 4.0), window=60.0)


def deaths(*moments: float, had_worked: bool = False) -> list[Death]:
    return [Death(at=moment, had_worked=had_worked) for moment in moments]


def test_each_death_in_a_row_is_followed_by_a_longer_pause() -> None:
    assert [PATIENCE.pause(deaths(*range(number))) for number in (1, 2, 3)] == [0.1, 1.0, 4.0]


def test_one_that_never_gets_to_work_is_given_up() -> None:
    assert PATIENCE.pause(deaths(0, 1, 2, 3)) is None


def test_one_that_never_gets_to_work_is_given_up_however_long_each_attempt_takes() -> None:
    assert PATIENCE.pause(deaths(0, 100, 200, 300)) is None


def test_one_that_worked_is_never_given_up() -> None:
    assert PATIENCE.pause(deaths(*range(50), had_worked=True)) == 4.0


def test_a_death_after_a_long_life_is_followed_by_the_shortest_pause() -> None:
    assert PATIENCE.pause(deaths(0, 1, 2, 500, had_worked=True)) == 0.1


def test_having_worked_once_makes_the_count_begin_anew() -> None:
    assert PATIENCE.pause([*deaths(0, 1, 2), *deaths(3, had_worked=True), *deaths(4, 5, 6)]) == 4.0
