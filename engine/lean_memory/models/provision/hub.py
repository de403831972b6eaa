"""Files from a model hub, or a mirror with its addresses, over plain HTTP: taken up where they stopped, and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models.installed import FileRecord, Voucher
from lean_memory.models.provision import wording
from lean_memory.models.provision.asking import AbsentError, Answer, CutError, PastTheEndError, ask
from lean_memory.models.provision.source import BLOCK, Part, Wanted
from lean_memory.models.provision.watch import Watch

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHA1 = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to try; seconds and counts."""

    stall: float = 10.0
    """Without a single byte for so long, the connection is given up and made anew."""
    first: int = 4
    """Attempts for a file at a host that does not answer at all."""
    attempts: int = 7
    """Attempts in a row that bring nothing new."""
    pause: float = 0.5
    """Before the second attempt; doubled each time, up to `longest_pause`."""
    longest_pause: float = 30.0

    def before(self, failures: int, asked: float) -> float:
        """Seconds to wait after so many failures in a row; as long as the server asked for, within reason."""
        return min(self.longest_pause, max(self.pause * 2.0 ** (failures - 1), asked))


class Hub:
    """A `Source`. Raises `InvalidInputError` where `endpoint` is no address. Proxies are those of the environment."""

    def __init__(self, endpoint: str, patience: Patience | None = None) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise InvalidInputError(wording.bad_address(endpoint))
        self._endpoint, self._host, self._scheme = endpoint.rstrip("/"), parts.netloc.rpartition("@")[2], parts.scheme
        self._patience = patience or Patience()

    @property
    def origin(self) -> str:
        """Where the files come from, without a password that may stand in the address."""
        return f"{self._scheme}://{self._host}"

    def fetch(self, wanted: Wanted, part: Path, watch: Watch) -> FileRecord | None:
        """The file whole in `part`; see `Source`."""
        address = self.address_of(wanted)
        begun = Part(part, watch, None if wanted.file.size_is_estimate else wanted.file.size)
        transfer = _Transfer(wanted, begun, watch, address=address, host=self._host, lacks=self.lacks(wanted), patience=self._patience)
        for _ in range(2):
            if not transfer.run():
                return None
            record = transfer.checked()
            if record is not None:
                return record
            begun.start_over()
        raise ModelFetchError(wording.damaged(wanted.name, self._host))

    def address_of(self, wanted: Wanted) -> str:
        """Where a file lies."""
        return f"{self._endpoint}/{wanted.spec.model_id}/resolve/{quote(wanted.spec.revision)}/{quote(wanted.file.path)}"

    def lacks(self, wanted: Wanted) -> str:
        """What is said where it does not lie there."""
        return wording.missing(wanted.name, self._host, wanted.spec.revision)


class Release(Hub):
    """A `Source`: an address below which the files lie directly, as they do beside the installers of a release."""

    def address_of(self, wanted: Wanted) -> str:
        return f"{self._endpoint}/{quote(wanted.file.path)}"

    def lacks(self, wanted: Wanted) -> str:
        return wording.missing_in_release(wanted.file.path, self._endpoint)


class _Transfer:
    """One file on its way."""

    def __init__(self, wanted: Wanted, part: Part, watch: Watch, *, address: str, host: str, lacks: str, patience: Patience) -> None:
        self._wanted, self._part, self._watch = wanted, part, watch
        self._address, self._host, self._lacks, self._patience = address, host, lacks, patience
        self._length = None if wanted.file.size_is_estimate else wanted.file.size
        self._heard = False
        self._sum = ""
        """What the hub says of the content: a SHA-256, or the SHA-1 that git gives it."""

    def run(self) -> bool:
        """Receive until the file is whole; false where the hub lacks a file that is optional."""
        failures = 0
        while self._length is None or self._part.have < self._length:
            before = self._part.have
            try:
                self._receive()
            except AbsentError:
                return self._do_without()
            except PastTheEndError as end:
                self._settle_for(end.length)
                failures += 1
                self._give_up_after(failures, CutError("it has less than came before"))
            except CutError as cut:
                self._heard |= cut.heard
                failures = 1 if self._part.have > before else failures + 1
                self._give_up_after(failures, cut)
                self._watch.wait(self._patience.before(failures, cut.pause), cut.why)
        return True

    def checked(self) -> FileRecord | None:
        """What is known of the whole file; `None` where it is not what it should be."""
        found = self._part.sha256
        if self._wanted.sha256 is not None:
            sound, voucher = found == self._wanted.sha256, self._wanted.voucher
        elif _SHA256.fullmatch(self._sum):
            sound, voucher = found == self._sum, Voucher.HUB
        elif _SHA1.fullmatch(self._sum):
            sound, voucher = self._sum in self._part.sha1s(), Voucher.HUB
        else:
            sound, voucher = True, Voucher.FIRST_COPY
        return FileRecord(size=self._part.have, sha256=found, voucher=voucher) if sound else None

    def _receive(self) -> None:
        """One request and all that comes of it. Raises `CutError` where more must be asked for."""
        answer = ask(self._address, what=self._wanted.name, host=self._host, have=self._part.have, stall=self._patience.stall)
        with answer.response:
            self._heard = True
            self._take_head(answer)
            self._take_body(answer)
        if self._length is None:
            self._learn(self._part.have)
        elif self._part.have < self._length:
            raise CutError("the connection ended early")

    def _take_head(self, answer: Answer) -> None:
        """See that this is what was asked for."""
        revision = answer.said_by_the_hub("X-Repo-Commit")
        if _SHA1.fullmatch(revision) and revision != self._wanted.spec.revision:
            raise ModelFetchError(wording.other_revision(self._host, revision))
        if answer.response.headers.get_content_type() == "text/html":
            raise ModelFetchError(wording.not_a_file(self._wanted.name, self._host))
        if answer.start not in (0, self._part.have):
            raise CutError("it sends another piece than the one asked for")
        # The hub itself names the content; where it sends us on to has tags of its own kind.
        said = (answer.said("X-Linked-ETag") or answer.said_by_the_hub("ETag")).removeprefix("W/").strip('"')
        if _SHA256.fullmatch(said) or (_SHA1.fullmatch(said) and revision):
            self._sum = said
        if _SHA256.fullmatch(said) and self._wanted.sha256 not in (None, said):
            raise ModelFetchError(wording.other_content(self._wanted.name, self._host))
        if answer.length is not None:
            self._learn(answer.length)

    def _take_body(self, answer: Answer) -> None:
        known = self._part.have - answer.start
        """Bytes that come once more, from a server that cannot begin in the middle."""
        while True:
            block = answer.read(BLOCK)
            if not block:
                return
            self._watch.passed(min(known, len(block)))
            fresh, known = block[known:], max(0, known - len(block))
            if self._length is not None and self._part.have + len(fresh) > self._length:
                raise ModelFetchError(wording.other_length(self._wanted.name, self._host, self._part.have + len(fresh), self._length))
            self._part.keep(fresh)

    def _learn(self, length: int) -> None:
        """The file is so long. Raises `ModelFetchError` where that is not what was published."""
        if self._length is None:
            self._watch.learned(length - self._wanted.file.size)
            self._length = length
        elif length != self._length:
            raise ModelFetchError(wording.other_length(self._wanted.name, self._host, length, self._length))

    def _settle_for(self, length: int | None) -> None:
        """All of the file is here already, or what is here is of another one."""
        if length is not None and length == self._part.have and self._length in (None, length):
            self._learn(length)
        else:
            self._part.start_over()

    def _do_without(self) -> bool:
        if not self._wanted.file.optional:
            raise ModelFetchError(self._lacks)
        self._part.start_over()
        return False

    def _give_up_after(self, failures: int, cut: CutError) -> None:
        if not self._heard and failures >= self._patience.first:
            raise ModelFetchError(wording.unreachable(self._host, cut.why)) from cut
        if failures >= self._patience.attempts:
            raise ModelFetchError(wording.stalled(self._wanted.name, self._host, cut.why)) from cut
