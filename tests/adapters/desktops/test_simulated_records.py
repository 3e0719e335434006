"""The record-keeping applications: a button and its command do the same, and nothing without a running application."""

from __future__ import annotations

import pytest

from cuamaster.action_space import CUAAction, from_pixel
from cuamaster.adapters.desktops.simulated import SimulatedDesktop, SimulatedHost
from cuamaster.adapters.desktops.simulated_records import RECORD_APPS, RECORDS_IMAGE
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.errors import UnknownName
from cuamaster.records.trajectory import Target
from cuamaster.vision.grounding import find_target


def click(desktop: SimulatedDesktop, text: str) -> None:
    spot = find_target(
        KnownReader(lambda _: desktop.texts()).read(desktop.screenshot().image), Target(text=text), (1280, 800)
    )
    assert spot is not None, text
    desktop.act(CUAAction("mouse.click", {"x": spot.x, "y": spot.y}), "c")


def by_button(desktop: SimulatedDesktop, label: str, line: str) -> None:
    click(desktop, label)
    desktop.act(CUAAction("keyboard.type", {"text": line}), "t")
    desktop.act(CUAAction("keyboard.press", {"keys": ["enter"]}), "e")


STEPS = (
    ("new", "invoice", "lake:Anna pays"),
    ("note", "invoice", "lake:in cash"),
    ("rename", "invoice", "lake:ridge"),
    ("complete", "invoice", "ridge"),
    ("new", "refund", "dune:Boris calls"),
    ("share", "refund", "dune"),
    ("remove", "refund", "dune"),
    ("fetch", "budget", "dune"),
)


def test_buttons_and_commands_do_the_same() -> None:
    by_hand, by_shell = SimulatedDesktop(RECORDS_IMAGE), SimulatedDesktop(RECORDS_IMAGE)
    click(by_hand, "Ledger")
    by_shell.shell("ledger")
    for operation, kind, line in STEPS:
        by_button(by_hand, f"{operation.capitalize()} {kind}", line)
        name, _, text = line.partition(":")
        assert by_shell.shell(f"ledger {operation} {kind} {name}:'{text}'").exit_code == 0
    assert by_hand.world.files == by_shell.world.files
    assert by_hand.read_file("~/Ledger/Done/invoice-ridge.txt") == b"Anna pays\nin cash\n"
    assert by_hand.read_file("~/Ledger/budget-dune.txt") == by_hand.read_file("~/Shared/dune.txt") == b"Boris calls\n"
    assert by_hand.read_file("~/Ledger/refund-dune.txt") is None


@pytest.mark.parametrize(
    "command",
    [
        "ledger new invoice lake:x",
        "ledger complete invoice nobody",
        "ledger burn invoice lake",
        "ledger new car lake:x",
        "ledger new",
    ],
)
def test_what_cannot_be_done_changes_nothing(command: str) -> None:
    desktop = SimulatedDesktop(RECORDS_IMAGE)
    desktop.shell("ledger; ledger new invoice lake:first")
    before = dict(desktop.world.files.nodes)
    assert desktop.shell(command).exit_code != 0
    assert desktop.world.files.nodes == before


def test_an_impossible_line_leaves_the_dialog_open() -> None:
    desktop = SimulatedDesktop(RECORDS_IMAGE)
    desktop.launch("fleet")
    by_button(desktop, "Complete car", "nobody")
    assert [window.title for window in desktop.state().windows] == ["Fleet", "Complete car"]


def test_only_the_records_image_has_them_and_they_must_be_running() -> None:
    desktop = SimulatedDesktop("light-desktop")
    with pytest.raises(UnknownName, match="ledger"):
        desktop.launch("ledger")
    assert desktop.world.icons == ()
    assert {f"app:{app}" for app in RECORD_APPS} <= SimulatedHost().guest_image(RECORDS_IMAGE).capabilities
    assert SimulatedDesktop(RECORDS_IMAGE).shell("ledger new invoice lake:x").exit_code == 2


def test_what_is_covered_is_not_read_and_a_still_screen_is_drawn_once() -> None:
    desktop = SimulatedDesktop(RECORDS_IMAGE)
    desktop.launch("ledger")
    assert "New invoice" in [box.text for box in desktop.texts()]
    desktop.launch("stock")
    desktop.world.windows[-1].x, desktop.world.windows[-1].y = desktop.world.windows[0].x, desktop.world.windows[0].y
    assert "New invoice" not in [box.text for box in desktop.texts()]
    first = desktop.screenshot()
    assert desktop.screenshot() is first
    desktop.act(CUAAction("mouse.move", {"x": from_pixel(5, 1280), "y": from_pixel(5, 800)}), "m")
    assert desktop.screenshot() is not first
