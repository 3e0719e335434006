"""One host for all tests that start guests: a process can own one embedded libvirt root only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.adapters.screens.live import LiveReader
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.assets import asset_folder
from cuamaster.settings import Settings


@pytest.fixture(scope="session")
def vm_host() -> Iterator[LibvirtHost]:
    """Builds image and golden snapshot where they are missing; CUAMASTER_LIBVIRT_URI chooses another root."""
    settings = Settings()
    host = LibvirtHost(
        MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache),
        settings.cache,
        uri=settings.libvirt_uri,
        capacity=2,
    )
    yield host
    host.close()


@pytest.fixture(scope="session")
def vm_reader(tmp_path_factory: pytest.TempPathFactory) -> LiveReader:
    """OCR that reads what changed."""
    folder: Path = tmp_path_factory.mktemp("ocr")
    return LiveReader(RapidOcrReader(folder))
