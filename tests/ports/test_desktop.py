"""Conformance of every Desktop and DesktopHost: the simulated one always, the real one where guests may run (marker vm)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from cuamaster.action_space import CUAAction, from_pixel, to_pixel
from cuamaster.adapters.desktops.pool import DesktopPool, Member
from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.adapters.leases.sqlite import SqliteLeases
from cuamaster.errors import GuestDied, HostBusy, InvalidAction, MissingCapability, UnknownName
from cuamaster.ports import Desktop, DesktopHost
from cuamaster.records.episode import Receipt

IMAGE = "light-desktop"


@pytest.fixture(scope="module", params=["simulated", "pooled", pytest.param("libvirt", marks=pytest.mark.vm)])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DesktopHost]:
    made: DesktopHost = _libvirt_host() if request.param == "libvirt" else SimulatedHost(capacity=2)
    if request.param == "pooled":
        leases = SqliteLeases(tmp_path_factory.mktemp("leases") / "leases.sqlite")
        made = DesktopPool([Member("here", made, 2)], leases, flow="tests")
    yield made
    made.close()


def _sized(host: DesktopHost, size: tuple[int, int]) -> DesktopHost:
    """The same kind of host, with another screen; a process's hosts share what is costly."""
    return SimulatedHost(screen=size) if isinstance(host, DesktopPool | SimulatedHost) else _libvirt_host(size)


def _libvirt_host(screen: tuple[int, int] | None = None) -> DesktopHost:
    from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
    from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
    from cuamaster.assets import asset_folder
    from cuamaster.settings import Settings

    settings = Settings()
    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache)
    return LibvirtHost(builder, settings.cache, uri=settings.libvirt_uri, capacity=2, screen=screen)


@pytest.fixture(scope="module")
def opened(host: DesktopHost) -> Iterator[Desktop]:
    with host.open(IMAGE) as desktop:
        desktop.snapshot("fresh")
        yield desktop


@pytest.fixture
def desktop(opened: Desktop) -> Desktop:
    """The module's desktop, back in its first state."""
    opened.rollback("fresh")
    return opened


def act(desktop: Desktop, kind: str, **args: object) -> Receipt:
    return desktop.act(CUAAction(kind, args), f"test-{kind}")


def window(desktop: Desktop, app: str) -> None:
    """Start an application and wait until its window has the focus."""
    desktop.launch(app)
    deadline = time.monotonic() + 240
    while True:
        desktop.settle(timeout=30, quiet=0.5)
        active = desktop.state().active
        if active is not None and active.app == app:
            return
        assert time.monotonic() < deadline, f"{app} has no window: {desktop.state()}"


def test_it_says_what_it_is(desktop: Desktop) -> None:
    assert desktop.image == IMAGE
    assert desktop.image_digest
    assert {"shell", "clipboard", "app:mousepad", "app:pcmanfm", "app:lxterminal"} <= desktop.capabilities


def test_a_screenshot_is_rgb_of_the_screen_and_its_png_says_the_same(desktop: Desktop) -> None:
    frame = desktop.settle()
    assert frame.image.shape == (desktop.height, desktop.width, 3)
    assert frame.image.dtype == np.uint8
    decoded = cv2.imdecode(np.frombuffer(frame.png, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    assert np.array_equal(decoded[:, :, ::-1], frame.image)
    assert np.array_equal(desktop.screenshot().image, frame.image)
    assert desktop.screenshot().t >= frame.t


def test_shell_streams_and_status_are_kept_apart(desktop: Desktop) -> None:
    result = desktop.shell("echo out; echo err >&2; false")
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 1)
    assert desktop.shell("pwd; whoami").stdout == "/home/user\nuser\n"
    assert desktop.shell("pwd", cwd="/tmp").stdout == "/tmp\n"
    assert desktop.shell("echo 'čau 世界 🎉'").stdout == "čau 世界 🎉\n"
    assert desktop.shell("no-such-program").exit_code == 127


def test_a_command_over_its_time_has_no_status_and_the_next_one_works(desktop: Desktop) -> None:
    result = desktop.shell("echo begun; sleep 30; echo never", timeout=1)
    assert result.exit_code is None
    assert result.stdout == "begun\n"
    assert desktop.shell("echo again").stdout == "again\n"


def test_files_keep_their_bytes(desktop: Desktop) -> None:
    data = bytes(range(256)) * 300
    desktop.write_file("~/a folder/b/c.bin", data)
    assert desktop.read_file("~/a folder/b/c.bin") == data
    assert desktop.read_file("/home/user/a folder/b/c.bin") == data
    assert desktop.read_file("~/missing") is None
    assert desktop.read_file("~/a folder") is None
    desktop.write_file("~/a folder/b/c.bin", b"")
    assert desktop.read_file("~/a folder/b/c.bin") == b""


def test_the_signature_hashes_files_and_folders(desktop: Desktop) -> None:
    desktop.write_file("~/one.txt", b"one")
    first = desktop.state(["~/one.txt", "~/none.txt", "~"])
    assert first.files["~/one.txt"] == hashlib.sha256(b"one").hexdigest()
    assert first.files["~/none.txt"] == ""
    desktop.write_file("~/two.txt", b"two")
    second = desktop.state(["~/one.txt", "~"])
    assert second.files["~/one.txt"] == first.files["~/one.txt"]
    assert second.files["~"] != first.files["~"]


def test_an_application_shows_its_window(desktop: Desktop) -> None:
    assert desktop.state().active is None
    window(desktop, "mousepad")
    seen = desktop.state()
    assert [item.app for item in seen.windows] == ["mousepad"]
    assert seen.active == seen.windows[0]
    assert "Untitled" in seen.windows[0].title
    assert 100 < seen.windows[0].width <= desktop.width
    assert 100 < seen.windows[0].height <= desktop.height


def test_the_pointer_is_known_in_pixels(desktop: Desktop) -> None:
    act(desktop, "mouse.move", x=250, y=500)
    assert desktop.pointer == (to_pixel(250, desktop.width), to_pixel(500, desktop.height))


def test_elements_are_told_where_there_is_an_accessibility_bus(desktop: Desktop) -> None:
    if "accessibility" not in desktop.capabilities:
        with pytest.raises(MissingCapability, match="accessibility") as refused:
            desktop.elements()
        assert refused.value.capability == "accessibility"
        return
    window(desktop, "mousepad")
    tree = desktop.elements()
    frame = next(number for number, item in enumerate(tree.elements) if item.parent < 0 and "Untitled" in item.name)
    menu = next(item for item in tree.elements if item.name == "File")
    above = menu
    while above.parent >= 0:
        assert tree.elements.index(above) > above.parent
        above = tree.elements[above.parent]
    assert above == tree.elements[frame]
    act(
        desktop,
        "mouse.click",
        x=(menu.x + menu.width / 2) * 1000 / desktop.width,
        y=(menu.y + menu.height / 2) * 1000 / desktop.height,
    )
    desktop.settle(timeout=20)
    assert "Save As..." in {item.name for item in desktop.elements().elements}
    assert not desktop.elements(most=2).whole
    assert len(desktop.elements(most=2).elements) <= 2


def test_an_unknown_application_is_named(desktop: Desktop) -> None:
    with pytest.raises(UnknownName, match="photoshop"):
        desktop.launch("photoshop")


def test_typed_text_is_saved_exactly_and_the_clipboard_stays(desktop: Desktop) -> None:
    desktop.shell("printf former | xclip -selection clipboard >/dev/null 2>&1")
    window(desktop, "mousepad")
    text = 'The quick (brown) fox: 100% "sure"?\nnaïve 你好 🎉👩\u200d💻\n  {end} <~`\'|\\/> & <>&|"\''
    assert act(desktop, "keyboard.type", text=text).status == "sent"
    desktop.settle(timeout=20)
    assert act(desktop, "keyboard.press", keys=["ctrl", "s"]).status == "sent"
    desktop.settle(timeout=60, quiet=1)
    act(desktop, "keyboard.press", keys=["ctrl", "a"])
    act(desktop, "keyboard.type", text="/home/user/fox.txt")
    desktop.settle(timeout=20)
    act(desktop, "keyboard.press", keys=["enter"])
    desktop.settle(timeout=30)
    assert (desktop.read_file("~/fox.txt") or b"").decode().rstrip("\n") == text
    active = desktop.state().active
    assert active is not None
    assert "fox.txt" in active.title
    assert "*" not in active.title
    assert desktop.shell("xclip -o -selection clipboard").stdout == "former"


def test_a_click_in_the_task_bar_starts_an_application_and_a_key_closes_it(desktop: Desktop) -> None:
    act(desktop, "mouse.click", x=14.1, y=980)  # the first launcher
    deadline = time.monotonic() + 240
    while desktop.state().active is None:
        assert time.monotonic() < deadline
        desktop.settle(timeout=30, quiet=0.5)
    act(desktop, "keyboard.press", keys=["alt", "f4"])
    desktop.settle(timeout=20)
    assert desktop.state().windows == ()


def test_a_drag_moves_a_window(desktop: Desktop) -> None:
    window(desktop, "mousepad")
    before = desktop.state().windows[0]
    x, y = (before.x + 150) * 1000 / desktop.width, (before.y + 10) * 1000 / desktop.height
    act(desktop, "mouse.drag", path=[[x, y], [x + 60, y + 40], [x + 100, y + 50]])
    desktop.settle(timeout=20)
    after = desktop.state().windows[0]
    assert after.x - before.x == pytest.approx(128, abs=6)
    assert after.y - before.y == pytest.approx(40, abs=6)
    assert (after.width, after.height) == (before.width, before.height)


@pytest.mark.parametrize("size", [(1024, 768), (1920, 1080)])
def test_every_size_of_screen_shows_takes_input_and_comes_back(host: DesktopHost, size: tuple[int, int]) -> None:
    other = _sized(host, size)
    with other.open(IMAGE) as desktop:
        width, height = size
        assert (desktop.width, desktop.height) == size
        assert desktop.settle(timeout=30).image.shape == (height, width, 3)
        attested = desktop.snapshot("empty")
        act(desktop, "mouse.move", x=from_pixel(width - 3, width), y=from_pixel(3, height))
        corner = desktop.settle(timeout=20).image
        act(desktop, "mouse.click", x=from_pixel(18, width), y=from_pixel(height - 16, height))  # the first launcher
        deadline = time.monotonic() + 240
        while (active := desktop.state().active) is None:
            assert time.monotonic() < deadline
            desktop.settle(timeout=30, quiet=0.5)
        assert active.app == "mousepad"
        assert active.x + active.width <= width
        assert active.y + active.height <= height
        assert desktop.rollback("empty") == attested
        act(desktop, "mouse.move", x=from_pixel(width - 3, width), y=from_pixel(3, height))
        assert np.array_equal(desktop.settle(timeout=20).image, corner)


def test_shell_actions_answer_in_the_receipt(desktop: Desktop) -> None:
    receipt = act(desktop, "shell.exec", command="echo hello; echo oops >&2; exit 4")
    assert receipt.status == "effect_seen"
    assert receipt.exit_code == 4
    assert "hello" in receipt.response
    assert "oops" in receipt.response
    assert receipt.action_id == "test-shell.exec"


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("finish", {"status": "success"}),
        ("tool.call", {"name": "calendar"}),
        ("mouse.click", {"x": 1001, "y": 5}),
        ("mouse.click", {"x": float("nan"), "y": 5}),
        ("keyboard.press", {"keys": ["hyperspace"]}),
    ],
)
def test_what_is_no_desktop_action_is_rejected(desktop: Desktop, kind: str, args: dict[str, object]) -> None:
    with pytest.raises(InvalidAction):
        desktop.act(CUAAction(kind, args), "bad")


def test_rollback_brings_memory_and_disk_back_as_often_as_wanted(desktop: Desktop) -> None:
    desktop.write_file("~/kept.txt", b"before")
    window(desktop, "mousepad")
    act(desktop, "keyboard.type", text="kept words")
    before = desktop.settle(timeout=20)
    attested = desktop.snapshot("typed", ["~/kept.txt"])
    for turn in range(2):
        desktop.write_file("~/kept.txt", f"changed {turn}".encode())
        act(desktop, "keyboard.type", text=" and more")
        desktop.settle(timeout=20)
        act(desktop, "keyboard.down", key="shift")
        assert desktop.rollback("typed") == attested
        assert desktop.read_file("~/kept.txt") == b"before"
        assert np.array_equal(desktop.settle(timeout=20).image, before.image)
    act(desktop, "keyboard.press", keys=["q"])  # shift was held when the branch was left: it must not be any more
    lower = desktop.settle(timeout=20)
    desktop.rollback("typed")
    act(desktop, "keyboard.type", text="q")
    assert np.array_equal(desktop.settle(timeout=20).image, lower.image)
    desktop.drop_snapshot("typed")
    with pytest.raises(UnknownName, match="typed"):
        desktop.rollback("typed")


def test_what_was_held_at_a_snapshot_is_let_go_by_a_rollback_and_by_release(desktop: Desktop) -> None:
    window(desktop, "mousepad")
    act(desktop, "keyboard.down", key="shift")
    desktop.snapshot("held")
    act(desktop, "keyboard.up", key="shift")
    desktop.rollback("held")
    act(desktop, "keyboard.type", text="a")
    act(desktop, "keyboard.down", key="shift")
    desktop.release()
    act(desktop, "keyboard.press", keys=["b"])
    desktop.settle(timeout=20)
    act(desktop, "keyboard.press", keys=["ctrl", "a"])
    act(desktop, "keyboard.press", keys=["ctrl", "c"])
    desktop.settle(timeout=20)
    assert desktop.shell("xclip -o -selection clipboard").stdout == "ab"
    desktop.drop_snapshot("held")


def test_snapshots_tell_their_size(desktop: Desktop) -> None:
    desktop.write_file("~/some.txt", b"x" * 1000)
    desktop.snapshot("sized")
    assert desktop.snapshot_sizes()["sized"] >= 1000
    desktop.drop_snapshot("sized")
    assert "sized" not in desktop.snapshot_sizes()


def test_a_label_can_be_used_again(desktop: Desktop) -> None:
    desktop.snapshot("again")
    desktop.write_file("~/later.txt", b"x")
    second = desktop.snapshot("again", ["~/later.txt"])
    desktop.write_file("~/later.txt", b"y")
    assert desktop.rollback("again") == second
    assert desktop.read_file("~/later.txt") == b"x"
    desktop.drop_snapshot("again")
    desktop.drop_snapshot("again")


def test_desktops_are_apart_and_closing_is_final(host: DesktopHost, desktop: Desktop) -> None:
    with host.open(IMAGE) as other:
        other.write_file("~/only-here.txt", b"x")
        assert desktop.read_file("~/only-here.txt") is None
        other.close()
        other.close()
        with pytest.raises(GuestDied):
            other.shell("true")
    assert desktop.shell("echo alive").stdout == "alive\n"


def test_a_fork_stands_at_its_snapshot_and_goes_its_own_way(host: DesktopHost, desktop: Desktop) -> None:
    desktop.write_file("~/kept.txt", b"before")
    window(desktop, "mousepad")
    act(desktop, "keyboard.type", text="kept words")
    before = desktop.settle(timeout=20)
    attested = desktop.snapshot("typed", ["~/kept.txt"])
    desktop.write_file("~/kept.txt", b"changed")
    act(desktop, "keyboard.type", text=" and more")
    changed = desktop.settle(timeout=20)
    with desktop.fork("typed") as twin:
        assert twin.state(["~/kept.txt"]) == attested
        assert np.array_equal(twin.settle(timeout=20).image, before.image)
        assert np.array_equal(desktop.settle(timeout=20).image, changed.image), "the first one is left where it was"
        act(twin, "keyboard.type", text=" elsewhere")
        twin.write_file("~/only-there.txt", b"x")
        assert desktop.read_file("~/only-there.txt") is None
        assert not np.array_equal(twin.settle(timeout=20).image, before.image)
        assert twin.rollback("typed") == attested, "it has the snapshots of the first one"
        assert twin.rollback("fresh").windows == ()
        with pytest.raises(HostBusy), twin.fork("typed"):
            pass
        desktop.rollback("typed")
        assert desktop.read_file("~/kept.txt") == b"before"
    with pytest.raises(GuestDied):
        twin.shell("true")
    with pytest.raises(UnknownName, match="never"), desktop.fork("never"):
        pass
    desktop.drop_snapshot("typed")
    with host.open(IMAGE) as another:  # its place is free again
        assert another.shell("echo fine").stdout == "fine\n"
