"""The simulated desktop's own manners: menus, dialogs, file manager, terminal, and a shell that never leaves it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.action_space import CUAAction, from_pixel
from cuamaster.adapters.desktops.simulated import SimulatedDesktop, SimulatedHost
from cuamaster.adapters.desktops.simulated_screen import layout
from cuamaster.errors import HostBusy


@pytest.fixture
def desktop() -> SimulatedDesktop:
    return SimulatedDesktop("light-desktop")


def click(desktop: SimulatedDesktop, text: str, **args: object) -> None:
    """Click the topmost widget with this text."""
    widget = next(item for item in reversed(layout(desktop.world)) if item.text == text)
    x = from_pixel(widget.x + widget.width // 2, desktop.width)
    y = from_pixel(widget.y + widget.height // 2, desktop.height)
    desktop.act(CUAAction("mouse.click", {"x": x, "y": y, **args}), "t")


def keys(desktop: SimulatedDesktop, *names: str) -> None:
    desktop.act(CUAAction("keyboard.press", {"keys": list(names)}), "t")


def write(desktop: SimulatedDesktop, text: str) -> None:
    desktop.act(CUAAction("keyboard.type", {"text": text}), "t")


def titles(desktop: SimulatedDesktop) -> list[str]:
    return [window.title for window in desktop.state().windows]


def test_save_as_by_menu_and_dialog(desktop: SimulatedDesktop) -> None:
    desktop.launch("mousepad")
    write(desktop, "one\ntwo")
    assert titles(desktop) == ["*Untitled 1 - Mousepad"]
    click(desktop, "File")
    click(desktop, "Save As...")
    assert titles(desktop)[-1] == "Save As"
    keys(desktop, "ctrl", "a")
    write(desktop, "list.txt")
    click(desktop, "Save")
    assert titles(desktop) == ["~/list.txt - Mousepad"]
    assert desktop.read_file("~/list.txt") == b"one\ntwo\n"


def test_copy_paste_undo_and_settings(desktop: SimulatedDesktop) -> None:
    desktop.launch("mousepad")
    write(desktop, "first\nsecond")
    keys(desktop, "ctrl", "home")
    keys(desktop, "shift", "end")
    click(desktop, "Edit")
    click(desktop, "Copy")
    assert desktop.shell("xclip -o -selection clipboard").stdout == "first"
    keys(desktop, "ctrl", "end")
    keys(desktop, "ctrl", "v")
    keys(desktop, "ctrl", "s")
    write(desktop, "x.txt\n")
    assert desktop.read_file("~/x.txt") == b"first\nsecondfirst\n"
    click(desktop, "View")
    click(desktop, "Line Numbers")
    assert desktop.shell("gsettings get org.xfce.mousepad.preferences.view show-line-numbers").stdout == "true\n"


def test_unsaved_text_is_asked_about(desktop: SimulatedDesktop) -> None:
    desktop.launch("mousepad")
    write(desktop, "x")
    keys(desktop, "alt", "f4")
    assert titles(desktop)[-1] == "Save Changes"
    click(desktop, "Cancel")
    assert len(titles(desktop)) == 1
    keys(desktop, "alt", "f4")
    click(desktop, "Don't Save")
    assert titles(desktop) == []


def test_the_file_manager_makes_opens_renames_and_trashes(desktop: SimulatedDesktop) -> None:
    desktop.launch("pcmanfm")
    keys(desktop, "escape")
    desktop.act(CUAAction("mouse.click", {"x": 700, "y": 700, "button": "right"}), "t")
    click(desktop, "Create New...")
    click(desktop, "Folder")
    write(desktop, "reports\n")
    assert desktop.shell("test -d ~/reports").exit_code == 0
    click(desktop, "reports", count=2)
    assert titles(desktop) == ["reports"]
    keys(desktop, "alt", "up")
    click(desktop, "reports")
    keys(desktop, "f2")
    write(desktop, "old\n")
    click(desktop, "old", button="right")
    click(desktop, "Move to Trash")
    assert desktop.shell("ls ~").stdout == "Desktop\nDocuments\nDownloads\n"


def test_the_calculator(desktop: SimulatedDesktop) -> None:
    desktop.launch("galculator")
    write(desktop, "7.5+2*(3-1)\n")
    click(desktop, "Edit")
    click(desktop, "Copy Display Value")
    assert desktop.shell("xclip -o -selection clipboard").stdout == "11.5"
    keys(desktop, "escape")
    for label in ("1", "4", "4", "sqrt"):
        click(desktop, label)
    assert any(widget.text == "12" for widget in layout(desktop.world))
    write(desktop, "/0\n")
    assert any(widget.text == "E" for widget in layout(desktop.world))
    assert all(widget.text != "sin" for widget in layout(desktop.world))
    click(desktop, "View")
    click(desktop, "Scientific Mode")
    assert any(widget.text == "sin" for widget in layout(desktop.world))


def test_the_terminal_runs_lines(desktop: SimulatedDesktop) -> None:
    desktop.launch("lxterminal")
    write(desktop, "mkdir -p a/b && cd a && echo 'x y' > b/f.txt && cat b/f.txt\n")
    assert desktop.read_file("~/a/b/f.txt") == b"x y\n"
    assert titles(desktop) == ["user@desk: ~/a"]
    assert desktop.world.windows[-1].lines[-1] == "x y"  # type: ignore[attr-defined]
    write(desktop, "exit\n")
    assert titles(desktop) == []


@pytest.mark.parametrize(
    ("script", "stdout", "status"),
    [
        ("echo a; echo b | tr a-z A-Z; echo c | cat", "a\nB\nc\n", 0),
        ("false && echo no || echo yes", "yes\n", 0),
        ("if [ -d ~/none ]; then echo dir; elif [ -e ~ ]; then echo here; else echo absent; fi", "here\n", 0),
        ("{ echo out; echo err >&2\n} 2>&1; echo; echo 'end' $?", "out\nerr\n\nend 0\n", 0),
        ("A='x  y'; echo \"$A\" '$A' \"\\$A\"", "x  y $A $A\n", 0),
        ("printf '%s-%s\\n' a b c d", "a-b\nc-d\n", 0),
        ("echo one > f; echo two >> f; wc -l < f; sort -r f | head -n 1", "2\ntwo\n", 0),
        ("ls /nowhere 2>/dev/null; echo $?", "2\n", 0),
        ("! true", "", 1),
        ("exit 7; echo never", "", 7),
        ("echo x | grep -q y", "", 1),
        ("echo 'open", "", 2),
        ("while true; do :; done", "", 127),
    ],
)
def test_the_shell(desktop: SimulatedDesktop, script: str, stdout: str, status: int) -> None:
    result = desktop.shell(script)
    assert (result.stdout, result.exit_code) == (stdout, status) if stdout or status < 126 else result.exit_code != 0


def test_scripts_run_in_a_shell_of_their_own(desktop: SimulatedDesktop) -> None:
    desktop.write_file("~/make.sh", b"mkdir -p out\ncd out\necho one > a.txt\nexit 3\n")
    assert desktop.shell("./make.sh").exit_code == 127  # not executable yet
    assert desktop.shell("chmod +x make.sh && ./make.sh").exit_code == 3
    assert desktop.read_file("~/out/a.txt") == b"one\n"
    assert desktop.shell("bash make.sh; pwd").stdout == "/home/user\n"
    assert desktop.shell("sh -c 'echo two; exit 2'; echo $?").stdout == "two\n2\n"
    assert desktop.shell("setsid sh -c 'echo three > b.txt' >/dev/null 2>&1 & sleep 1; cat b.txt").stdout == "three\n"
    desktop.write_file("~/again.sh", b"bash again.sh\n")
    assert "too many" in desktop.shell("bash again.sh").stderr
    assert desktop.shell("sh -c 'sleep 100'", timeout=5).exit_code is None


def test_files_open_in_their_application_and_windows_answer_to_their_title(desktop: SimulatedDesktop) -> None:
    desktop.write_file("~/Documents/a.txt", b"a")
    assert desktop.shell("xdg-open Documents/a.txt && xdg-open Documents").exit_code == 0
    assert [window.title for window in desktop.state().windows[-2:]] == ["~/Documents/a.txt - Mousepad", "Documents"]
    assert desktop.shell("xdg-open nowhere").exit_code == 2
    assert desktop.shell("wmctrl -Fa a.txt").exit_code == 1
    assert desktop.shell("wmctrl -Fa '~/Documents/a.txt - Mousepad'").exit_code == 0
    active = desktop.state().active
    assert active is not None and active.app == "mousepad"


def test_the_shell_cannot_touch_this_host(desktop: SimulatedDesktop, tmp_path: Path) -> None:
    desktop.shell(f"echo broken > {tmp_path}/out.txt; touch {tmp_path}/new; rm -rf {tmp_path}")
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.is_dir()
    assert desktop.shell("cat /etc/hostname").exit_code == 1
    assert desktop.shell("python3 -c 'print(1)'").exit_code == 127


def test_time_passes_only_when_told_to(desktop: SimulatedDesktop) -> None:
    begun = desktop.screenshot().t
    desktop.shell("sleep 5")
    desktop.act(CUAAction("wait", {"seconds": 10}), "t")
    assert desktop.screenshot().t == begun + 15


def test_a_fork_goes_its_own_way(desktop: SimulatedDesktop) -> None:
    desktop.launch("mousepad")
    desktop.snapshot("open")
    write(desktop, "y")
    with desktop.fork("open") as other:
        assert isinstance(other, SimulatedDesktop)
        assert titles(other) == ["Untitled 1 - Mousepad"]
        write(other, "x")
        desktop.rollback("open")
        assert titles(desktop) == ["Untitled 1 - Mousepad"]
        assert titles(other) == ["*Untitled 1 - Mousepad"]


def test_the_host_keeps_its_capacity() -> None:
    host = SimulatedHost(capacity=1)
    with host.open("a"), pytest.raises(HostBusy), host.open("b"):
        pass
    with host.open("c") as desktop:
        assert desktop.image == "c"
