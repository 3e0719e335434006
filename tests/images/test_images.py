"""The shipped images: built, every application opens its window without a dialog, and tells its elements."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.assets import asset_folder
from cuamaster.ports import Desktop
from cuamaster.records.scene import Elements, UIElement
from cuamaster.settings import Settings

pytestmark = pytest.mark.vm
APPS = [
    ("light-desktop", "mousepad", "Untitled 1", "File"),
    ("office", "libreoffice-calc", "Untitled 1", "Sheet"),
    ("office", "libreoffice-writer", "Untitled 1", "Styles"),
    ("office", "libreoffice-impress", "Untitled 1", "Slide Show"),
    ("web-media", "netsurf", "NetSurf", "about:blank"),
    ("web-media", "eog", "Image Viewer", "Menu"),
    ("web-media", "evince", "Recent Documents", "Open"),
]


@pytest.fixture(scope="module")
def host() -> Iterator[LibvirtHost]:
    settings = Settings()
    made = LibvirtHost(
        MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache), settings.cache, uri=settings.libvirt_uri
    )
    yield made
    made.close()


def opened(desktop: Desktop, app: str) -> None:
    """Start an application and wait until it has the focus."""
    desktop.launch(app)
    deadline = time.monotonic() + 240
    while (active := desktop.state().active) is None or active.app != app:
        assert time.monotonic() < deadline, f"{app} has no window: {desktop.state()}"
        desktop.settle(timeout=30, quiet=0.5)
    desktop.settle(timeout=60, quiet=1.0)


def named(tree: Elements, name: str) -> list[UIElement]:
    return [item for item in tree.elements if name in item.name]


@pytest.mark.parametrize(("image", "app", "title", "label"), APPS, ids=[app for _, app, _, _ in APPS])
def test_an_application_opens_alone_and_tells_what_it_shows(
    host: LibvirtHost, tmp_path: Path, image: str, app: str, title: str, label: str
) -> None:
    with host.open(image) as desktop:
        assert {f"app:{app}", "accessibility"} <= desktop.capabilities
        opened(desktop, app)
        (tmp_path / "screen.png").write_bytes(desktop.screenshot().png)
        windows = desktop.state().windows
        assert [item.app for item in windows] == [app]
        assert title in windows[0].title
        tree = desktop.elements()
        found = named(tree, label)
        assert found, [item.name for item in tree.elements]
        for item in found:
            assert item.width > 0
            assert windows[0].x <= item.x + item.width / 2 <= windows[0].x + windows[0].width
            assert windows[0].y <= item.y + item.height / 2 <= windows[0].y + windows[0].height


def test_the_same_recipe_gives_the_same_packages(host: LibvirtHost, tmp_path: Path) -> None:
    """Another build of the smallest: same digest of the recipe, same list of packages with versions."""
    first = host.prepare("light-desktop").image
    second = MmdebstrapBuilder(asset_folder("vm_snapshots"), tmp_path).build("light-desktop")
    assert second.digest == first.digest
    assert (second.folder / "packages.txt").read_text() == (first.folder / "packages.txt").read_text()
