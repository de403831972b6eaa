"""The sentences in which a pull says what went wrong, and sizes as people read them."""

from __future__ import annotations

from lean_memory.models.manifest import ModelFile, Published

KEPT = "What came is kept, and the same command goes on from there."
OFFLINE = "Without a network, copy a bundle from another computer: lean-memory models pull --from FOLDER."


def amount(size: float) -> str:
    """A number of bytes in words, in steps of a thousand, as disks are sold."""
    for unit, step in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size >= step:
            return f"{size / step:.1f} {unit}" if size < 100 * step else f"{size / step:.0f} {unit}"
    return f"{size:.0f} bytes"


def named(spec: Published, file: ModelFile) -> str:
    """A file as it is called in a sentence."""
    return f"{file.path} of {spec.model_id}"


def missing(what: str, host: str, revision: str) -> str:
    return (
        f"{host} does not have {what} at revision {revision[:12]} (404). {KEPT} If {host} is a mirror (LM_MODELS_ENDPOINT), "
        "it may lack this model; else a newer Lean Memory may name one that is still there."
    )


def missing_in_release(what: str, address: str) -> str:
    return (
        f"{address} does not have {what} (404). {KEPT} If you have the file from elsewhere, take it in with: "
        "lean-memory models packages FILE."
    )


def refused(what: str, host: str, status: int) -> str:
    return (
        f"{host} refuses {what} ({status}). {KEPT} The models of the list are free to fetch without an account, so a proxy or a mirror "
        f"between may refuse it. {OFFLINE}"
    )


def proxy_refused(host: str) -> str:
    return f"The proxy between this computer and {host} wants to know who asks (407). {KEPT} Put name and password into HTTPS_PROXY."


def odd_status(what: str, host: str, status: int) -> str:
    return f"{host} answers {status} when asked for {what}. {KEPT} Try again later, or name another address with LM_MODELS_ENDPOINT."


def unreachable(host: str, why: str) -> str:
    return f"{host} cannot be reached ({why}). {KEPT} {OFFLINE}"


def stalled(what: str, host: str, why: str) -> str:
    return f"{what} stopped coming from {host} again and again ({why}). {KEPT}"


def untrusted(host: str) -> str:
    return (
        f"The certificate of {host} is not trusted by this computer, so nothing was fetched from it. Where a company's proxy signs for "
        f"others, name its certificate in SSL_CERT_FILE. {OFFLINE}"
    )


def bad_address(endpoint: str) -> str:
    return f"{endpoint!r} is no address that models can be fetched from; LM_MODELS_ENDPOINT takes one such as https://huggingface.co."


def weaker_address(host: str, other: str) -> str:
    return (
        f"{host} sends us on to {other} without encryption, where anybody between could change the files. Nothing was fetched from there."
    )


def other_content(what: str, host: str) -> str:
    return (
        f"{host} has another {what} than the one that was published under this revision, so it was not fetched. Whole files are kept. "
        "A mirror may be out of date: name another with LM_MODELS_ENDPOINT."
    )


def other_length(what: str, host: str, found: int, expected: int) -> str:
    return (
        f"{what} is {found:,} bytes long at {host} and should be {expected:,}, so it was not fetched. Whole files are kept. A page of a "
        "network that wants a login may stand between, or the mirror may be out of date."
    )


def other_revision(host: str, found: str) -> str:
    return f"{host} answers with revision {found[:12]} instead of the one that was asked for, so nothing was fetched. Name another mirror."


def not_a_file(what: str, host: str) -> str:
    return f"{host} sends a web page in place of {what}; a network that wants a login may stand between. Whole files are kept."


def damaged(what: str, origin: str) -> str:
    return (
        f"{what} came damaged from {origin} twice (its SHA-256 is not the right one); it was thrown away, and every other file is kept. "
        "Try again later or from another place."
    )


def damaged_copy(what: str, folder: str) -> str:
    return f"{what} in {folder} is damaged (its SHA-256 is not the right one) and was not taken; every other file is kept. Copy the bundle again."


def not_in_folder(what: str, folder: str) -> str:
    return f"{folder} has no whole {what}. {KEPT} A bundle is made with: lean-memory models bundle FOLDER."


def no_room(needed: int, free: int, folder: str) -> str:
    return (
        f"{amount(needed)} more are needed in {folder}, and {amount(free)} are free. Nothing was fetched. Free {amount(needed - free)}, "
        "or use another disk (LM_DATA_ROOT)."
    )


def disk_full(folder: str) -> str:
    return f"The disk is full, so {folder} takes no more. {KEPT} Free some space first."


def cannot_write(where: str, why: str) -> str:
    return f"{where} cannot be written ({why}). {KEPT}"


def busy() -> str:
    return "Another command or the service is fetching or removing models right now. Nothing was changed; wait for it, or stop it there."
