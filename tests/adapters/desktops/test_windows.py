"""Windows read from what the guest's programs print."""

from __future__ import annotations

from cuamaster.adapters.desktops.windows import parse_windows
from cuamaster.records.trajectory import Window

_TEXT = """== active
12582918
== windows
0x00800003 -1 pcmanfm.Pcmanfm       desk pcmanfm
0x00c00006  0 mousepad.Mousepad     desk *naïve 你好.txt - Mousepad
0x00e00001  0 Lxterminal.Lxterminal  N/A user@desk: ~
0x00f00001  0 untitled.Untitled desk
== tree

xwininfo: Window id: 0x50d (the root window) (has no name)

  Root window id: 0x50d (the root window) (has no name)
  Parent window id: 0x0 (none)
     14 children:
     0x400123 (has no name): ()  642x505+319+131  +319+131
        2 children:
        0x400124 (has no name): ()  640x483+1+21  +320+152
           1 child:
           0xc00006 "*naïve 你好.txt - Mousepad": ("mousepad" "Mousepad")  640x483+0+0  +320+152
        0x400125 (has no name): ()  640x20+1+1  +320+132
     0x400200 "odd (3x4+1+2 +5+6)": ("x" "X")  700x400+-10+40  +-10+40
        1 child:
        0xe00001 "user@desk: ~": ("Lxterminal" "Lxterminal")  698x378+1+21  +-9+61
"""


def test_geometry_is_the_outer_frames_and_panels_are_left_out() -> None:
    active, windows = parse_windows(_TEXT)
    editor = Window(app="mousepad", title="*naïve 你好.txt - Mousepad", x=319, y=131, width=642, height=505)
    assert active == editor
    assert windows == (
        editor,
        Window(app="lxterminal", title="user@desk: ~", x=-10, y=40, width=700, height=400),
        Window(app="untitled", title=""),
    )


def test_an_empty_screen_has_no_window() -> None:
    assert parse_windows("== active\n\n== windows\n== tree\n") == (None, ())
