"""`lean-memory models packages FILE` and `models remove packages`: what runs larger models, for a program to which pip can add nothing."""

from __future__ import annotations

from pathlib import Path

from lean_memory.models.library import ModelLibrary
from lean_memory_desktop.cli.console import complain, progress, say, write_json
from lean_memory_desktop.cli.options import Exit, Options


def packages(library: ModelLibrary, options: Options) -> int:
    """Take in the pack that the words name, or remove what one brought."""
    match options.words:
        case ["packages", file]:
            return _take_in(library, Path(file).expanduser().absolute(), options)
        case _:
            return _remove(library, options)


def tell_of_packages(library: ModelLibrary) -> None:
    """What is lacking for running larger models, and what to do, if anything is."""
    if library.packages_lacking:
        complain(
            "The packages that run these models are not installed, and the built-in model does the work until they are: "
            f"{library.packages_remedy}"
        )


def _take_in(library: ModelLibrary, file: Path, options: Options) -> int:
    with progress(100, "Unpacking the packages") as bar:
        pack = library.take_in_packages(file, report=bar.reach)
    if options.json:
        write_json({"version": pack.version, "target": pack.target, "python": pack.python, "lacking": list(library.packages_lacking)})
        return Exit.FINE
    say("The packages that run larger models are here.")
    if not library.tier(library.in_use).models:
        say("Fetch models and use them with: lean-memory models pull --use")
    return Exit.FINE


def _remove(library: ModelLibrary, options: Options) -> int:
    were_there = library.remove_packages()
    if options.json:
        write_json({"removed": were_there})
    else:
        say("The packages that run larger models were removed." if were_there else "No pack brought any here.")
    return Exit.FINE
