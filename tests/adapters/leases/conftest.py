"""One PostgreSQL server for all tests of lease tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.postgres_server import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running
