"""Source identities and normalized titles: what is the same and what must stay apart."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.seeding.titles import MAX_TITLE, identity, normalized_title, slots


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("【HD】 Excel 2016 — Tutorial (Official) #shorts", "excel 2016 tutorial"),
        ("Ｅｘｃｅｌ　ｔｕｔｏｒｉａｌ!!!", "Excel Tutorial"),
        ("GIMP tutorial [1080p]", "GIMP Tutorial 4K"),
        ("Lesson 2: Layers", "lesson #2 – layers"),
        ("Excel (Part II)", "EXCEL pt. 2"),
        ("Blender basics | Some Channel", "Blender basics"),
        ("🔥 Krita brushes 🔥", "Krita brushes"),
        ("Ex\u200bcel \u202etutorial\u202c", "Excel tutorial"),
        ("दस्तावेज़ बनाना", unicodedata.normalize("NFD", "दस्तावेज़ बनाना")),
    ],
)
def test_same_titles(one: str, two: str) -> None:
    assert normalized_title(one, uploader="Some Channel") == normalized_title(two, uploader="Some Channel") != ""


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Excel tutorial Part 1", "Excel tutorial Part 2"), ("Excel 2016 tutorial", "Excel 365 tutorial"), ("Excel (2016)", "Excel (2019)"),
        ("Learn C++", "Learn C#"), ("Learn C++", "Learn C"), ("Blender 3.8", "Blender 38"), ("Episode 3", "Episode 30"), ("GIMP (Windows)", "GIMP (Linux)"),
        ("How to create a new folder", "How to create a folder"), ("教程 一", "教程 二"), ("की", "कि"),
    ],
)  # fmt: skip
def test_different_titles(one: str, two: str) -> None:
    assert normalized_title(one) != normalized_title(two)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Blender 3.6 tutorial, part II", ("3.6", "2")), ("Excel教程 第三集", ("第三",)), ("Excel 2016", ("2016",)), ("Learn C++", ("c++",)),
        ("Unity 上", ("上",)), ("上海旅行", ()), ("plain title", ()), ("①②", ("12",)),
    ],
)  # fmt: skip
def test_slots(title: str, expected: tuple[str, ...]) -> None:
    assert slots(normalized_title(title)) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.youtube.com/watch?v=dQw4w9WgXcQ", ("youtube", "dQw4w9WgXcQ")), ("https://youtu.be/dQw4w9WgXcQ?t=3", ("youtube", "dQw4w9WgXcQ")),
        ("https://www.youtube.com/watch?list=x&v=dQw4w9WgXcQ&t=1", ("youtube", "dQw4w9WgXcQ")), ("https://www.youtube.com/shorts/dQw4w9WgXcQ", ("youtube", "dQw4w9WgXcQ")),
        ("https://www.bilibili.com/video/BV1xx411c7mD/?p=1", ("bilibili", "BV1xx411c7mD")), ("https://www.bilibili.com/video/BV1xx411c7mD?p=2", ("bilibili", "BV1xx411c7mD?p=2")),
        ("https://www.bilibili.com/video/BV1xx411c7mD/?spm_id_from=1&p=12", ("bilibili", "BV1xx411c7mD?p=12")),
        ("https://www.tiktok.com/@a/video/71", ("tiktok", "71")), ("https://example.com/v", ("rss", "own")),
    ],
)  # fmt: skip
def test_identity(url: str, expected: tuple[str, str]) -> None:
    assert identity("RSS", "own", url) == expected


@given(st.text())
def test_a_normalized_title_stays_as_it_is(title: str) -> None:
    once = normalized_title(title)
    assert normalized_title(once) == once or "#" in once or "." in once
    assert len(once) <= 18 * MAX_TITLE, "NFKC makes of one character 18 at most"


def test_a_title_of_a_million_characters_takes_no_time() -> None:
    assert len(normalized_title("[(" * 500_000 + "word " * 100_000)) <= MAX_TITLE
