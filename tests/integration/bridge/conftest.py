"""Folders for services that are started and ended within one test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import ServiceProcess, start_service


class Services:
    """Starts services over one data root and ends those that are left."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "memory"
        self._log = folder / "service.log"
        self._started: list[ServiceProcess] = []

    def start(self, *arguments: str, packages: Path | None = None) -> ServiceProcess:
        """A service that answers."""
        return self.begin(*arguments, packages=packages).wait_until_up()

    def begin(self, *arguments: str, packages: Path | None = None) -> ServiceProcess:
        """A service that may not answer yet, or never."""
        log = self._log.with_suffix(f".{len(self._started)}.log")
        service = start_service(self.root, log, *arguments, packages=packages)
        self._started.append(service)
        return service

    def end(self) -> None:
        for service in self._started:
            if service.process.poll() is None:
                service.process.kill()
            service.ended()


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    started = Services(tmp_path)
    yield started
    started.end()
