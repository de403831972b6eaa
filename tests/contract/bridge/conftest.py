"""A service that the tests of one module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.service import ServiceProcess, running_service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with running_service(tmp_path_factory.mktemp("service")) as started:
        yield started
