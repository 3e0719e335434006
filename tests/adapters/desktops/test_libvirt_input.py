"""Input that only a real guest can judge: exact text, terminals' paste keys, every button, sideways scrolling."""

from __future__ import annotations

import random
import string
import time

import pytest

from cuamaster.action_space import CUAAction, from_pixel
from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop

pytestmark = pytest.mark.vm


def act(desktop: LibvirtDesktop, kind: str, **args: object) -> str:
    return desktop.act(CUAAction(kind, args), "t").status


def start(desktop: LibvirtDesktop, command: str) -> None:
    desktop.shell(f"setsid {command} >/dev/null 2>&1 &")
    deadline = time.monotonic() + 240
    while desktop.state().active is None:
        assert time.monotonic() < deadline, f"no window of {command}"
        desktop.settle(timeout=30, quiet=0.5)
    desktop.settle(timeout=60, quiet=1)


def test_every_pixel_is_the_one_that_was_meant(desktop: LibvirtDesktop) -> None:
    generator = random.Random(7)
    points = [
        (0, 0),
        (1279, 799),
        (640, 400),
        *((generator.randrange(1280), generator.randrange(800)) for _ in range(8)),
    ]
    for x, y in points:
        act(desktop, "mouse.move", x=from_pixel(x, 1280), y=from_pixel(y, 800))
        assert f"x:{x} y:{y} " in desktop.shell("xdotool getmouselocation").stdout


@pytest.mark.timeout(2400)
def test_ten_thousand_characters_arrive_exactly(desktop: LibvirtDesktop) -> None:
    generator = random.Random(3)
    letters = string.ascii_letters + string.digits + string.punctuation + "   "
    lines = ["".join(generator.choice(letters) for _ in range(99)) for _ in range(100)]
    # cat takes raw lines: no completion, no auto-indent stands between keys and file.
    start(desktop, "xterm -e sh -c 'stty -echo; cat > ~/typed.txt'")
    assert act(desktop, "keyboard.type", text="".join(f"{line}\n" for line in lines)) == "sent"
    desktop.settle(timeout=60)
    act(desktop, "keyboard.press", keys=["ctrl", "d"])
    desktop.settle(timeout=60)
    typed = (desktop.read_file("~/typed.txt") or b"").decode().splitlines()
    assert len(typed) == len(lines)
    assert typed == lines


@pytest.mark.parametrize("terminal", ["lxterminal", "xterm"])
def test_other_alphabets_reach_a_terminal_and_the_clipboard_stays(desktop: LibvirtDesktop, terminal: str) -> None:
    desktop.shell("printf former | xclip -selection clipboard >/dev/null 2>&1")
    start(desktop, terminal)
    assert act(desktop, "keyboard.type", text="echo 'čau 世界 🎉' > ~/u.txt\n") == "sent"
    desktop.settle(timeout=60)
    assert (desktop.read_file("~/u.txt") or b"").decode() == "čau 世界 🎉\n"
    assert desktop.shell("xclip -o -selection clipboard").stdout == "former"


def test_an_empty_clipboard_stays_empty_and_a_picture_stays_a_picture(desktop: LibvirtDesktop) -> None:
    start(desktop, "lxterminal")
    act(desktop, "keyboard.type", text="true 世界\n")
    assert desktop.shell("xclip -o -selection clipboard").exit_code == 1
    picture = desktop.screenshot().png
    desktop.write_file("~/p.png", picture)
    desktop.shell("xclip -selection clipboard -t image/png ~/p.png >/dev/null 2>&1")
    act(desktop, "keyboard.type", text="true 世界\n")
    desktop.shell("xclip -o -selection clipboard -t image/png > ~/q.png")
    assert desktop.read_file("~/q.png") == picture


def test_every_button_wheel_and_modifier(desktop: LibvirtDesktop) -> None:
    start(desktop, "sh -c 'exec stdbuf -oL xev -geometry 600x400+300+200 -event button > ~/xev.log'")
    act(desktop, "mouse.scroll", x=400, y=500, dx=2, dy=0)
    act(desktop, "mouse.scroll", x=400, y=500, dx=-1, dy=3)
    act(desktop, "mouse.scroll", x=400, y=500, dy=-1)
    for button in ("left", "right", "middle", "back", "forward"):
        act(desktop, "mouse.click", x=400, y=500, button=button)
    act(desktop, "mouse.click", x=400, y=500, count=2, modifiers=["ctrl"])
    act(desktop, "mouse.down", x=400, y=500)
    act(desktop, "mouse.up", x=410, y=500)
    desktop.settle(timeout=30)
    log = (desktop.read_file("~/xev.log") or b"").decode("utf-8", "replace")
    pressed = [int(part.split("button ")[1].split(",")[0]) for part in log.split("ButtonPress")[1:]]
    assert pressed == [7, 7, 5, 5, 5, 6, 4, 1, 3, 2, 8, 9, 1, 1, 1]
    assert sum("state 0x4, button 1" in part.split("ButtonRelease")[0] for part in log.split("ButtonPress")[1:]) == 2


def test_a_relative_move_adds_up_and_stops_at_the_edge(desktop: LibvirtDesktop) -> None:
    act(desktop, "mouse.move", x=500, y=500)
    act(desktop, "mouse.move_relative", dx=100, dy=-100)
    assert "x:768 y:320 " in desktop.shell("xdotool getmouselocation").stdout
    act(desktop, "mouse.move_relative", dx=1000, dy=1000)
    assert "x:1279 y:799 " in desktop.shell("xdotool getmouselocation").stdout
