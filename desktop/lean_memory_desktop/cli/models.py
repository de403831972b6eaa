"""`lean-memory models`: what is there, fetching a tier when the person says so, choosing one, carrying one elsewhere, removing one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lean_memory.models.library import Cancelled, ModelLibrary, ModelStanding, Progress, Pulled, PullState, Voucher, amount
from lean_memory.settings import read_settings
from lean_memory_desktop.cli.console import ask, can_ask, complain, say, table, write_json
from lean_memory_desktop.cli.model_form import library_form
from lean_memory_desktop.cli.model_packages import packages, tell_of_packages, tell_what_comes_along
from lean_memory_desktop.cli.options import BadUseError, Exit, Options
from lean_memory_desktop.cli.pulling import Display, remaining

_USES = (
    "Use: lean-memory models [status], models pull [TIER] [--from FOLDER] [--use], models use TIER, models bundle FOLDER [TIER], "
    "models packages [FILE], models remove TIER, or models remove packages."
)


def models(options: Options) -> int:
    """Carry out the one that the first word names; without a word, show what is there."""
    library = ModelLibrary.of(read_settings(options.root))
    match options.words:
        case [] | ["status"]:
            return _status(library, options)
        case ["pull", *tier] if len(tier) <= 1:
            return _pull(library, _tier(library, tier), options)
        case ["use", tier]:
            return _use(library, tier, options)
        case ["bundle", folder, *tier] if len(tier) <= 1:
            return _bundle(library, Path(folder), _tier(library, tier), options)
        case ["packages"] | ["packages", _] | ["remove", "packages"]:
            return packages(library, options)
        case ["remove", tier]:
            return _remove(library, tier, options)
        case _:
            raise BadUseError(_USES)


def _tier(library: ModelLibrary, given: list[str]) -> str:
    """The tier that was named, or the only one that needs a download."""
    if given:
        return library.tier(given[0]).name
    names = [tier.name for tier in library.tiers if tier.models]
    if len(names) != 1:
        raise BadUseError(f"Say which tier: {', '.join(names)}.")
    return names[0]


def _status(library: ModelLibrary, options: Options) -> int:
    if options.json:
        write_json(library_form(library))
        return Exit.FINE
    say(f"In use: {library.in_use}.")
    table(
        ["tier", "for", "model", "licence", "size", "here"],
        [
            [tier.name, spec.role.value, spec.model_id, spec.licence, amount(spec.size), _here(standing)]
            for tier in library.tiers
            for standing in library.standing(tier.name)
            for spec in [standing.spec]
        ],
    )
    _tell_of_last_pull(library)
    _tell_what_lacks(library)
    return Exit.FINE


def _here(standing: ModelStanding) -> str:
    if not standing.whole:
        return f"{amount(standing.here)} of it" if standing.here else "no"
    unvouched = standing.vouchers.get(Voucher.FIRST_COPY, 0)
    return f"yes; {unvouched} of {sum(standing.vouchers.values())} files without a published sum" if unvouched else "yes"


def _tell_of_last_pull(library: ModelLibrary) -> None:
    note = library.last_pull
    if note is not None and note.state is PullState.RUNNING:
        left = remaining(note.seconds_left)
        far = f"{amount(note.done)} of {amount(note.total)}{', ' if left else ''}{left}"
        say(f"A download of {note.tier} from {note.origin} is under way: {far}.")
    elif note is not None and note.sentence:
        say(f"The last download of {note.tier}: {note.sentence}")


def _tell_what_lacks(library: ModelLibrary) -> None:
    """Why the tier in use cannot work, if it cannot."""
    tier = library.tier(library.in_use)
    if not library.is_here(tier.name):
        complain(f"The models of {tier.name} are not all here, and the built-in model does the work: lean-memory models pull {tier.name}")
    elif tier.models:
        tell_of_packages(library)


def _pull(library: ModelLibrary, name: str, options: Options) -> int:
    folder = Path(options.from_folder).expanduser().absolute() if options.from_folder else None
    done = _fetched(library, name, folder)
    if isinstance(done, Cancelled):
        return _stopped(done)
    if options.use:
        library.use(name)
    if options.json:
        files = {"fetched": list(done.fetched), "damaged": list(done.damaged)}
        write_json({"tier": name, "origin": library.origin(folder), "folder": str(library.folder), **files, "in_use": library.in_use})
        return Exit.FINE
    _tell_what_came(library, name, done)
    _tell_what_lacks(library)
    return Exit.FINE


def _fetched(library: ModelLibrary, name: str, folder: Path | None) -> Pulled | Cancelled:
    """Announced first, as it is much."""
    tier, origin = library.tier(name), library.origin(folder)
    if not tier.models:
        return Pulled(fetched=(), damaged=())
    complain(f"Fetching {name} from {origin} into {library.folder}, {amount(tier.size)} in all:")
    for spec in tier.models.values():
        complain(f"{spec.model_id} ({spec.role.value}, {spec.licence}, {amount(spec.size)})", indent=2)
    # Before, and not only once it is here.
    tell_what_comes_along(library, folder)
    return _watched(name, lambda report: library.pull(name, report=report, source=folder), library)


def _watched(name: str, work: Callable[[Callable[[Progress], None]], Pulled | Cancelled], library: ModelLibrary) -> Pulled | Cancelled:
    try:
        with Display(name) as display:
            return work(display.show)
    except KeyboardInterrupt:
        return library.cancelled(name)


def _stopped(left: Cancelled) -> int:
    complain(f"Stopped. {amount(left.here)} of {amount(left.total)} are here and kept; the same command goes on from there.")
    return Exit.INTERRUPTED


def _tell_what_came(library: ModelLibrary, name: str, done: Pulled) -> None:
    if not library.tier(name).models:
        say(f"{name} needs no download.")
        return
    for file in done.damaged:
        say(f"{file} was damaged, and was fetched again.")
    standings = library.standing(name)
    files = sum(sum(standing.vouchers.values()) for standing in standings)
    unvouched = sum(standing.vouchers.get(Voucher.FIRST_COPY, 0) for standing in standings)
    came = f"{len(done.fetched)} files came" if done.fetched else "Nothing had to be fetched"
    say(f"{name} is here. {came}, and all {files} were checked.")
    if unvouched:
        say(
            f"For {unvouched} of them nobody publishes a sum to check against; what came first was written down, and a later change is noticed."
        )
    if library.in_use != name:
        say(f"Use it with: lean-memory models use {name}")


def _use(library: ModelLibrary, name: str, options: Options) -> int:
    library.use(name)
    if options.json:
        write_json({"in_use": library.in_use})
        return Exit.FINE
    say(f"{name} is in use.")
    _tell_what_lacks(library)
    return Exit.FINE


def _bundle(library: ModelLibrary, given: Path, name: str, options: Options) -> int:
    folder = given.expanduser().absolute()
    done = _watched(name, lambda report: library.bundle(folder, name, report=report), library)
    if isinstance(done, Cancelled):
        complain("Stopped. What was copied stays; the same command goes on from there.")
        return Exit.INTERRUPTED
    if options.json:
        write_json({"tier": name, "folder": str(folder), "copied": list(done.fetched)})
        return Exit.FINE
    say(f"{name} is in {folder}, checked.")
    say(f"On the other computer: lean-memory models pull {name} --from FOLDER")
    return Exit.FINE


def _remove(library: ModelLibrary, name: str, options: Options) -> int:
    here = sum(standing.here for standing in library.standing(name))
    if here and not options.yes:
        if not can_ask():
            raise BadUseError(
                f"This deletes the models of {name} ({amount(here)}), and there is no terminal to ask you at; add --yes if you mean it."
            )
        if ask(f"Delete the models of {name} ({amount(here)})? They can be fetched again. [y/N]").lower() not in ("y", "yes"):
            complain("Nothing was deleted.")
            return Exit.FAILED
    freed = library.remove(name)
    if options.json:
        write_json({"tier": name, "freed_bytes": freed})
    else:
        say(f"{amount(freed)} were freed." if freed else f"Nothing of {name} was here.")
    return Exit.FINE
