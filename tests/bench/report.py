"""The README's table: each row's figures beside the floor, what must be reached and what we go for."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

COLUMNS = ("#", "measure", "floor", "must", "go for", "measured", "baseline, same data", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of a row: a share, or milliseconds where `unit` is "ms".

    `measured` is `None` where only the baselines were run; `baseline` is the best simple system on the same data, where there is one, and
    is then read as required too.
    """

    name: str
    measured: float | None
    must: float | None = None
    goal: float | None = None
    floor: float | None = None
    baseline: float | None = None
    unit: str = ""
    more_is_better: bool = True

    @property
    def required(self) -> float | None:
        """What must be reached: the table's figure or the baseline on the same data, whichever asks for more."""
        asked = [value for value in (self.must, self.baseline) if value is not None and self.must is not None]
        return None if not asked else max(asked) if self.more_is_better else min(asked)

    @property
    def reached(self) -> bool | None:
        """Whether it is what must be reached, at the table's precision; `None` where nothing was measured or asked."""
        if self.measured is None or self.required is None:
            return None
        digits = 1 if self.unit else 3
        gain = round(self.measured, digits) - round(self.required, digits)
        return gain >= 0 if self.more_is_better else gain <= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table; `number` is its place in the design's list, and "-" for one beside it."""

    number: str
    measure: str
    figures: Sequence[Figure]

    @property
    def verdict(self) -> str:
        outcomes = [figure.reached for figure in self.figures if figure.reached is not None]
        return "" if not outcomes else "reached" if all(outcomes) else "below"

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `COLUMNS`."""
        columns = ("floor", "must", "goal", "measured", "baseline")
        floor, must, goal, measured, baseline = (_joined(self.figures, column) for column in columns)
        names = " / ".join(figure.name for figure in self.figures)
        return (self.number, f"{self.measure}: {names}", floor, must, goal, measured, baseline, self.verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """What one suite found: its rows of the table, and everything else it measured, for the JSON file."""

    suite: str
    rows: Sequence[Row]
    details: dict[str, Any] = field(default_factory=dict[str, Any])


def print_table(results: Iterable[SuiteResult]) -> None:
    """The table on the terminal."""
    table = Table(*COLUMNS, title="Lean Memory benchmarks")
    for row in _rows(results):
        table.add_row(*row.cells())
    Console(width=None if os.isatty(1) else 200).print(table)


def write_markdown(results: Iterable[SuiteResult], path: Path) -> None:
    """The table as Markdown."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in _rows(results)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_json(results: Iterable[SuiteResult], path: Path) -> None:
    """Everything measured, with the machine it was measured on."""
    machine = {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count()}
    suites = {each.suite: {"rows": [asdict(row) | {"verdict": row.verdict} for row in each.rows], **each.details} for each in results}
    path.write_text(json.dumps({"machine": machine, "suites": suites}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _rows(results: Iterable[SuiteResult]) -> list[Row]:
    rows = [row for result in results for row in result.rows]
    return sorted(rows, key=lambda row: int(row.number) if row.number.isdigit() else 99)


def _joined(figures: Sequence[Figure], column: str) -> str:
    values = [getattr(figure, column) for figure in figures]
    if all(value is None for value in values):
        return "–"
    return " / ".join(_formatted(value, figure.unit) for value, figure in zip(values, figures, strict=True))


def _formatted(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if not unit:
        return f"{value:.3f}"
    return f"{value:,.1f} {unit}" if abs(value) < 100 else f"{value:,.0f} {unit}"
