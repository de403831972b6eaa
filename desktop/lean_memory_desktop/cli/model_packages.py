"""`lean-memory models packages [FILE]` and `models remove packages`: what runs larger models, for a program to which pip can add nothing."""

from __future__ import annotations

from pathlib import Path

from lean_memory.models.library import Cancelled, ModelLibrary, amount
from lean_memory_desktop.cli.console import complain, progress, say, write_json
from lean_memory_desktop.cli.options import Exit, Options
from lean_memory_desktop.cli.pulling import Display


def packages(library: ModelLibrary, options: Options) -> int:
    """Fetch the pack of this program's release, take in the one that the words name, or remove what one brought."""
    match options.words:
        case ["packages"]:
            return _fetch(library, options)
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


def tell_what_comes_along(library: ModelLibrary, folder: Path | None) -> None:
    """The same before a download, which brings the packages along where this program's release says where they lie."""
    offer = library.packages_offered
    if offer is None or not (folder is None or (folder / offer.name).is_file()):
        tell_of_packages(library)
        return
    complain(f"the packages that run them ({amount(offer.bytes)}), from {offer.address if folder is None else folder}", indent=2)


def _fetch(library: ModelLibrary, options: Options) -> int:
    try:
        with Display("packages") as display:
            done = library.fetch_packages(report=display.show)
    except KeyboardInterrupt:
        complain("Stopped. What came is kept, and the same command goes on from there.")
        return Exit.INTERRUPTED
    if isinstance(done, Cancelled):
        return Exit.INTERRUPTED
    return _tell_they_are_here(library, options, {"fetched": list(done.fetched)})


def _take_in(library: ModelLibrary, file: Path, options: Options) -> int:
    with progress(100, "Unpacking the packages") as bar:
        pack = library.take_in_packages(file, report=bar.reach)
    return _tell_they_are_here(library, options, {"version": pack.version, "target": pack.target, "python": pack.python})


def _tell_they_are_here(library: ModelLibrary, options: Options, told: dict[str, object]) -> int:
    if options.json:
        write_json({**told, "lacking": list(library.packages_lacking)})
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
