"""Windows read from what the guest's program prints."""

from __future__ import annotations

from cuamaster.adapters.desktops.windows import parse_windows
from cuamaster.records.trajectory import Window

_TEXT = """active 0xc00006
0x800003\t-1\tpcmanfm\tPcmanfm\t0\t0\t1280\t800\tpcmanfm
0xe00001\t0\tLxterminal\tLxterminal\t-10\t40\t700\t400\tuser@desk: ~
0xf00001\t0\t\t\t5\t6\t7\t8\t
0xc00006\t0\tmousepad\tMousepad\t319\t131\t642\t505\t*naïve　你好.txt - Mousepad
"""


def test_panels_are_left_out_and_the_active_window_is_known() -> None:
    active, windows = parse_windows(_TEXT)
    editor = Window(app="mousepad", title="*naïve　你好.txt - Mousepad", x=319, y=131, width=642, height=505)
    assert active == editor
    assert windows == (
        Window(app="lxterminal", title="user@desk: ~", x=-10, y=40, width=700, height=400),
        Window(app="", title="", x=5, y=6, width=7, height=8),
        editor,
    )


def test_an_empty_screen_has_no_window() -> None:
    assert parse_windows("active 0x0\n") == (None, ())


def test_a_class_may_tell_the_application_better_than_the_program_does() -> None:
    text = "active 0x1\n0x1\t0\tlibreoffice\tLibreOffice-Calc\t0\t0\t9\t9\tUntitled 1\n"
    assert [item.app for item in parse_windows(text)[1]] == ["libreoffice"]
    assert [item.app for item in parse_windows(text, {"libreoffice-calc": "libreoffice-calc"})[1]] == [
        "libreoffice-calc"
    ]
