"""A disk that somebody brings, without an agent: the light desktop's own disk, of which nothing but the screen is asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import yaml

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.adapters.screens.live import LiveReader
from cuamaster.assets import asset_folder
from cuamaster.checks import holds
from cuamaster.errors import InvalidAction, MissingCapability, SetupFailed
from cuamaster.ports import Desktop
from cuamaster.propagation.collection.setup import establish
from cuamaster.records.condition import ScreenText, WindowTitle
from cuamaster.records.task import Environment
from cuamaster.settings import Settings

pytestmark = pytest.mark.vm


@pytest.fixture(scope="module")
def desktop(vm_host: LibvirtHost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    settings = Settings()
    shelf = asset_folder("vm_snapshots")
    built = vm_host.prepare("light-desktop").image
    folder = tmp_path_factory.mktemp("own") / "brought"
    folder.mkdir()
    template = (shelf / "light-desktop" / "domain.xml").read_text("utf-8")
    (folder / "domain.xml").write_text(template.replace("$image", str(built.folder)), "utf-8")
    recipe = {
        "kind": "own",
        "name": "brought",
        "disk": str(built.folder / "base.qcow2"),
        "agent": "none",
        "screen": {"width": built.width, "height": built.height},
        "memory_mib": 1024,
        "vcpus": 1,
    }
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe), "utf-8")
    builder = MmdebstrapBuilder(shelf, settings.cache, own=folder.parent)
    host = LibvirtHost(builder, settings.cache, uri=settings.libvirt_uri)
    with host.open("brought") as opened:
        yield opened
    host.close()


def act(desktop: Desktop, kind: str, **args: object) -> None:
    assert desktop.act(CUAAction(kind, args), kind).status == "sent"


def test_screen_input_and_rollback_work_and_the_rest_is_refused_by_name(
    desktop: Desktop, vm_reader: LiveReader
) -> None:
    assert desktop.capabilities == {"snapshot"}
    first = desktop.settle(timeout=20, quiet=1.0)
    signature = desktop.snapshot("before")
    assert signature.active is None
    assert signature.controller["screen"]

    act(desktop, "mouse.click", x=14.1, y=980)  # the task bar's first launcher: the editor
    for _ in range(20):
        if holds(ScreenText(text="Untitled 1"), desktop, vm_reader).holds:
            break
        desktop.settle(timeout=10, quiet=1.0)
    act(desktop, "keyboard.type", text="nobody inside was asked")
    desktop.settle(timeout=20, quiet=1.0)
    assert holds(ScreenText(text="nobody inside was asked"), desktop, vm_reader).holds

    assert desktop.rollback("before") == signature
    assert np.array_equal(desktop.settle(timeout=20, quiet=1.0).image, first.image)

    for asked in (
        lambda: desktop.shell("true"),
        lambda: desktop.launch("mousepad"),
        lambda: desktop.read_file("~/a"),
        lambda: desktop.write_file("~/a", b""),
        lambda: desktop.state(),
        lambda: desktop.snapshot("with files", ["~/a"]),
    ):
        with pytest.raises(MissingCapability, match="shell"):
            asked()
    with pytest.raises(MissingCapability, match="accessibility"):
        desktop.elements()
    with pytest.raises(InvalidAction, match="shell"):
        desktop.act(CUAAction("shell.exec", {"command": "true"}), "x")
    with pytest.raises(InvalidAction, match="clipboard"):
        desktop.act(CUAAction("keyboard.type", {"text": "plain and 你好"}), "x")
    assert np.array_equal(desktop.settle(timeout=20, quiet=1.0).image, first.image)  # nothing of it was typed


def test_conditions_about_the_inside_are_refused_at_the_door_and_never_false(
    desktop: Desktop, vm_reader: LiveReader
) -> None:
    asked = WindowTitle(title="a")
    environment = Environment(image=desktop.image, image_digest=desktop.image_digest, established=(asked,))
    with pytest.raises(SetupFailed, match="lacks shell"):
        establish(environment, desktop, vm_reader)
    assert holds(asked, desktop, vm_reader).holds is None
