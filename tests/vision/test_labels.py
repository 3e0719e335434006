"""Labels as said and as shown: which are the same to a reader."""

from __future__ import annotations

import pytest

from cuamaster.vision.labels import similarity


@pytest.mark.parametrize(
    ("wanted", "shown", "fits"),
    [
        ("Save As", "Save As...", True), ("save as", "Save As", True), ("Save", "Save As", False), ("Save", "Save All", False),
        ("File", "Eile", True), ("Edit", "Exit", False), ("Replace with", "Replace with:", True), ("Undo", "Redo", False),
        ("Print", "Print... Ctrl+P", True), ("Find and Replace", "Find andReplace...", True), ("Preferences", "Preferenoes", True),
        ("Sort A", "Sort B", False), ("", "x", False), ("8", "8", True), ("8", "9", False), ("Sheet1", "Sheet2", False), ("Bold", "☑ Bold", True),
    ],
)  # fmt: skip
def test_labels_fit_when_they_are_the_same_to_a_reader(wanted: str, shown: str, fits: bool) -> None:
    assert (similarity(wanted, shown) > 0) is fits
