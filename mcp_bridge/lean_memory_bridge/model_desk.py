"""The files of models, for the routes: fetched in a thread of their own when the person says so, and followed whichever process fetches them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from lean_memory.errors import LeanMemoryError, ModelFetchError
from lean_memory.models.library import ModelLibrary, Pulled, PullState, last_pull
from lean_memory.settings import Settings
from lean_memory_bridge.schemas.downloads import PullView, TierModelView, TierView

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between two looks at a download of any process."""
_BEGINNING = 5.0
_GOODBYE = 15.0
"""Seconds to wait for the end of a download; longer than a line may be mute."""
_ELSEWHERE = "The download is another command's; stop it there with Ctrl-C. What came is kept."


class ModelDesk:
    """One download at a time. From any thread, `changed` is called when a download stands otherwise, `chosen` when a tier may have been chosen."""

    def __init__(self, settings: Settings, changed: Callable[[], None], chosen: Callable[[], None]) -> None:
        self._settings, self._changed, self._chosen = settings, changed, chosen
        self._alone = threading.Lock()
        self._pull: _Pull | None = None
        self._closing = threading.Event()
        # A thread of its own, as handing a look to one from the loop takes several times as much as the look.
        self._follower = threading.Thread(target=self._follow, name="downloads", daemon=True)

    def pull(self, tier: str, folder: str | None, *, then_use: bool) -> PullView | None:
        """Begin to fetch; how it stands. Raises `InvalidInputError`, and `ModelFetchError` where another pull goes on."""
        library = ModelLibrary.of(self._settings)
        source = Path(folder).expanduser() if folder is not None else None
        library.tier(tier)
        library.origin(source)
        with self._alone:
            if self._pull is None or not self._pull.is_alive():
                self._pull = _Pull(library, tier, source, then_use=then_use, ended=self._has_ended)
                self._pull.start()
            pull = self._pull
        pull.begun.wait(_BEGINNING)
        if pull.refusal is not None:
            raise pull.refusal
        self._changed()
        return self.last_pull()

    def cancel(self) -> PullView | None:
        """Stop the download that was begun here; how it stands then. Raises `ModelFetchError` for one of another process."""
        pull = self._stopped()
        told = self.last_pull()
        if told is not None and told.state == PullState.RUNNING.value and (pull is None or not pull.is_alive()):
            raise ModelFetchError(_ELSEWHERE)
        return told

    def use(self, tier: str) -> None:
        """Choose a tier that is here. Raises `InvalidInputError` and `ModelFetchError`."""
        ModelLibrary.of(self._settings).use(tier)
        self._changed()
        self._chosen()

    def remove(self, tier: str) -> int:
        """Delete the models of a tier that is not in use; the bytes that were freed. Raises like `use`."""
        freed = ModelLibrary.of(self._settings).remove(tier)
        self._changed()
        return freed

    def tiers(self) -> tuple[TierView, ...]:
        """Every tier; none where the list of models cannot be used."""
        try:
            library = ModelLibrary.of(self._settings)
        except LeanMemoryError:
            return ()
        return tuple(_tier_view(library, tier.name) for tier in library.tiers)

    def chosen(self) -> str:
        """The tier that was chosen last; empty where the list of models cannot be used."""
        try:
            return ModelLibrary.of(self._settings).in_use
        except LeanMemoryError:
            return ""

    def last_pull(self) -> PullView | None:
        """How the last download stands, whichever process does it."""
        note = last_pull(self._settings.root)
        return None if note is None else PullView.model_validate({**asdict(note), "state": note.state.value})

    def start(self) -> None:
        """Tell of downloads of whichever process, until closed."""
        self._follower.start()

    def close(self) -> None:
        """Stop a download; what came is kept, and the next one goes on from there."""
        self._closing.set()
        self._stopped()
        if self._follower.is_alive():
            self._follower.join(_GOODBYE)

    def _follow(self) -> None:
        before = None
        while not self._closing.wait(_LOOK):
            now = self.last_pull()
            if now != before:
                before = now
                self._changed()

    def _has_ended(self) -> None:
        self._changed()
        self._chosen()

    def _stopped(self) -> _Pull | None:
        """The last download that was begun here, told to stop; it may be alive still where its line is mute."""
        with self._alone:
            pull = self._pull
        if pull is not None and pull.is_alive():
            pull.cancel.set()
            pull.join(_GOODBYE)
        return pull


class _Pull(threading.Thread):
    """A download under way. It ends with its process, which keeps what came."""

    def __init__(self, library: ModelLibrary, tier: str, source: Path | None, *, then_use: bool, ended: Callable[[], None]) -> None:
        super().__init__(name="pull", daemon=True)
        self._library, self._tier, self._source, self._then_use, self._ended = library, tier, source, then_use, ended
        self.cancel, self.begun = threading.Event(), threading.Event()
        self.refusal: LeanMemoryError | None = None
        """Why it never began."""

    def run(self) -> None:
        try:
            done = self._library.pull(self._tier, report=lambda _: self.begun.set(), cancel=self.cancel, source=self._source)
            if self._then_use and isinstance(done, Pulled):
                self._library.use(self._tier)
        except LeanMemoryError as error:
            if not self.begun.is_set():
                self.refusal = error
            log.info("A download of models ended (%s).", type(error).__name__)
        finally:
            self.begun.set()
            self._ended()


def _tier_view(library: ModelLibrary, name: str) -> TierView:
    standings = library.standing(name)
    return TierView(
        name=name,
        bytes=library.tier(name).size,
        here=library.is_here(name),
        models=tuple(
            TierModelView(
                id=standing.spec.model_id,
                revision=standing.spec.revision,
                role=standing.spec.role.value,
                licence=standing.spec.licence,
                bytes=standing.spec.size,
                here_bytes=standing.here,
                whole=standing.whole,
            )
            for standing in standings
        ),
    )
