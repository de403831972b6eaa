"""One command that measures every row of the table.

`PYTHONPATH=engine:tests python -m bench --data DIR [--suite locomo,pairs] [--scale 1000,10000] [--json OUT] [--markdown OUT]`
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from bench import suites
from bench.extraction import run_extraction
from bench.nights import run_nights
from bench.report import SuiteResult, print_table, write_json, write_markdown
from bench.search_speed import run_search, run_writers
from bench.size import run_coldstart, run_size
from bench.speed import run_adds
from bench.suites import Setting
from bench.supersession import run_supersession
from bench.switch import run_switch
from bench.vectors import RememberingEmbedder
from lean_memory.models.builtin import BuiltinEmbedder

log = logging.getLogger("bench")

SUITES: dict[str, Callable[[Setting], SuiteResult]] = {
    "locomo": suites.run_locomo,
    "longmemeval": suites.run_longmemeval,
    "updates": suites.run_updates,
    "consolidation": suites.run_consolidation,
    "asof": suites.run_asof,
    "pairs": suites.run_pairs,
    "extraction": run_extraction,
    "supersession": run_supersession,
    "search": run_search,
    "adds": run_adds,
    "writers": run_writers,
    "switch": run_switch,
    "nights": run_nights,
    "size": run_size,
    "coldstart": run_coldstart,
}

GROUPS: dict[str, tuple[str, ...]] = {"speed": ("search", "adds", "writers")}

ALL = tuple(name for name in SUITES if name != "updates")
"""`longmemeval` holds the updates too."""


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    setting = Setting(
        data=chosen.data,
        cache=chosen.cache,
        embedder=RememberingEmbedder(BuiltinEmbedder(), chosen.cache),
        recipe=chosen.recipe,
        engine=not chosen.baselines_only,
        scales=chosen.scale,
    )
    results: list[SuiteResult] = []
    for name in chosen.suite:
        before = perf_counter()
        results.append(SUITES[name](setting))
        log.info("%s took %.0f s", name, perf_counter() - before)
        _write(results, chosen)
    print_table(results)
    return 0


def _write(results: Sequence[SuiteResult], chosen: argparse.Namespace) -> None:
    """Writes after every suite, so that a long run that is broken off leaves what it had."""
    if chosen.json:
        write_json(results, chosen.json)
    if chosen.markdown:
        write_markdown(results, chosen.markdown)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures Lean Memory against simple baselines.")
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with the development halves (or the public files under their names)"
    )
    parser.add_argument("--suite", type=_suites, default=ALL, help=f"comma-separated, of {', '.join([*SUITES, *GROUPS])}; default all")
    parser.add_argument("--scale", type=_numbers, default=(1_000, 10_000), help="numbers of facts for speed and size, comma-separated")
    parser.add_argument("--recipe", help="a retrieval recipe by name; default the engine's own")
    parser.add_argument("--baselines-only", action="store_true", help="do not run the engine")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/lean-memory-bench").expanduser(), help="vectors and filled stores")
    parser.add_argument("--json", type=Path, help="write everything measured here")
    parser.add_argument("--markdown", type=Path, help="write the table here")
    return parser


def _suites(text: str) -> tuple[str, ...]:
    names = tuple(name for given in text.split(",") for name in GROUPS.get(given, (given,)))
    if unknown := [name for name in names if name not in SUITES]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is no suite; there are {', '.join(SUITES)}")
    return names


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number.replace("_", "")) for number in text.split(","))
