"""One recording under two titles, or two tasks with similar titles."""

from __future__ import annotations

import numpy as np
import pytest

from cuamaster.seeding.same import same_recordings, title_change
from cuamaster.seeding.sketch import band_names, sketch, title_bands

ABOUT = "in this video i show how to insert rows, columns and cells with the keyboard, and how to undo it"


def same(
    one: str,
    two: str,
    seconds: tuple[float, float] = (300, 300),
    *,
    about: tuple[str, str] = ("", ""),
    own: bool = False,
) -> bool:
    return bool(
        same_recordings(
            [one], [two], [about[0]], [about[1]], np.array([seconds[0]], np.float32), np.array([seconds[1]], np.float32), np.array([own])
        )[0]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("insert a row in excel", "insert a column in excel", "replaced"), ("gimp layers tutorial", "gimp layer tutoral", "none"),
        ("crop an image in gimp", "gimp crop an image", "none"), ("crop an image in gimp", "crop an image in gimp with shortcuts", "added"),
        ("export a page", "import a page", "replaced"), ("excel冻结窗格教程", "excel冻结首行教程", "replaced"), ("excel冻结窗格教程", "excel冻结窗格教程详细", "added"),
        ("엑셀 행 삽입하기", "엑셀 열 삽입하기", "replaced"), ("power point basics", "powerpoint basics", "none"),
    ],
)  # fmt: skip
def test_change(one: str, two: str, expected: str) -> None:
    assert title_change(one, two) == title_change(two, one) == expected


def test_durations_decide_where_they_are_known() -> None:
    assert same("gimp layers tutorial", "gimp layers tutorial explained")
    assert same("gimp layers tutorial", "gimp layers tutorial explained", (300, 301.5), own=True)
    assert not same("gimp layers tutorial", "gimp layers tutorial explained", (300, 320))
    assert not same("insert a row in excel", "insert a column in excel", about=(ABOUT, ABOUT))


def test_a_description_tells_cuts_of_another_uploader_only() -> None:
    titles = "insert cells with the keyboard", "insert cells with the keyboard quickly and safely"
    assert same(*titles, (300, 320), about=(ABOUT, ABOUT))
    assert not same(*titles, (300, 320), about=(ABOUT, ABOUT), own=True), "an uploader says the same below every video"
    assert same(*titles, (-1, 320), about=(ABOUT, ABOUT)) and not same(*titles, (-1, 320))
    assert not same(*titles, (-1, -1), about=("short", "short"))


def test_bands_meet_for_edits_and_not_for_other_parts() -> None:
    titles = ["how to crop an image in gimp", "how to crop an imge in gimp", "budget planning with gnumeric", ""]
    bands = title_bands(titles)
    assert bands.shape == (4, len(band_names())) and (bands[0] == bands[1]).sum() >= 3
    assert not (bands[0] == bands[2]).any() and not bands[3].any(), "an empty title meets nothing"

    def row(title: str) -> dict[str, list[object]]:
        names = (
            "id",
            "source",
            "source_id",
            "url",
            "title",
            "description",
            "uploader",
            "duration",
            "upload_date",
            "app",
            "query",
        )
        return {name: [None] for name in names} | {
            "id": ["v"],
            "source": ["s"],
            "source_id": ["1"],
            "url": ["u"],
            "title": [title],
            "description": [""],
        }

    one, two = (sketch(row(f"Excel tutorial part {part}"), first_row=7) for part in (1, 2))
    assert not any(one[name][0] == two[name][0] for name in band_names())
    assert one["row"][0] == 7 and one["date"][0] == 99_999_999 and one["duration"][0] == -1 and one["owner"][0] == 0
