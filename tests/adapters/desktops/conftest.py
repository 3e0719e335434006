"""One clone for the tests of what only a real guest can show, and a channel for those of what its agent says."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest

from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.assets import asset_folder
from cuamaster.settings import Settings


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a channel."""
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture(scope="module")
def host() -> Iterator[LibvirtHost]:
    settings = Settings()
    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache)
    made = LibvirtHost(builder, settings.cache, uri=settings.libvirt_uri, capacity=2)
    yield made
    made.close()


@contextmanager
def clone(host: LibvirtHost) -> Iterator[LibvirtDesktop]:
    with host.open("light-desktop") as desktop:
        yield cast("LibvirtDesktop", desktop)


@pytest.fixture(scope="module")
def _opened(host: LibvirtHost) -> Iterator[LibvirtDesktop]:
    with clone(host) as desktop:
        desktop.snapshot("fresh")
        yield desktop


@pytest.fixture
def desktop(_opened: LibvirtDesktop) -> LibvirtDesktop:
    _opened.rollback("fresh")
    return _opened
