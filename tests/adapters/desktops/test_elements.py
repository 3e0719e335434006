"""The accessibility tree as the guest prints it: read whole, and without what other windows cover."""

from __future__ import annotations

from cuamaster.adapters.desktops.elements import parse_tree
from cuamaster.records.scene import UIElement

_TEXT = """active 0x2
0x1\t0\tsoffice\tlibreoffice-calc\t0\t0\t700\t500\tUntitled 1 - Calc
0x2\t0\tmousepad\tMousepad\t400\t200\t400\t300\tnotes — Mousepad
elements whole
0\t-1\tframe\t2\t20\t696\t478\t2000102\tUntitled 1 - Calc
1\t0\tmenu\t4\t22\t40\t20\t2400900\tFile\x20\x20
2\t0\tpush button\t500\t300\t60\t30\t2001900\tunder the other window
3\t2\tlabel\t10\t300\t60\t30\t2000000\tbeside it
4\t-1\tframe\t402\t220\t396\t278\t2000102\tnotes — Mousepad
5\t4\ttext\t410\t260\t380\t200\t2021980\t
6\t4\tpush button\t790\t590\t60\t60\t2001900\toff the screen
7\t-1\twindow\t500\t300\t80\t20\t2000000\ta menu above all
8\t-1\twindow\t0\t0\t800\t600\t2000000\tDesktop
9\t8\ticon\t10\t10\t80\t80\t2000000\tunder the window
10\t8\ticon\t710\t10\t80\t80\t2000000\tfree
"""


def test_what_is_covered_or_off_the_screen_is_left_out_and_parents_are_told_anew() -> None:
    tree = parse_tree(_TEXT, 800, 600, {})
    assert tree.whole
    assert [(item.name, item.parent) for item in tree.elements] == [
        ("Untitled 1 - Calc", -1),
        ("File", 0),
        ("beside it", 0),
        ("notes — Mousepad", -1),
        ("", 3),
        ("a menu above all", -1),
        ("free", -1),
    ]
    assert tree.elements[1] == UIElement(
        role="menu",
        name="File",
        x=4,
        y=22,
        width=40,
        height=20,
        states=("enabled", "focusable", "selectable"),
        parent=0,
    )
    assert "editable" in tree.elements[4].states


def test_a_tree_that_was_cut_says_so_and_an_empty_one_is_whole() -> None:
    assert not parse_tree(_TEXT.replace("elements whole", "elements cut"), 800, 600, {}).whole
    assert parse_tree("active 0x0\nelements whole\n", 800, 600, {}).elements == ()
