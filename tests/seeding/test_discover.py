"""Dedup by source identity and normalized title."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.records.video import Video
from cuamaster.seeding.discover import dedup, identity, normalized_title


def video(source_id: str, title: str, *, source: str = "youtube", url: str = "", uploader: str | None = None) -> Video:
    return Video(
        source=source, source_id=source_id, url=url or f"https://x/{source_id}", title=title, uploader=uploader
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("【HD】 Excel 2016 — Tutorial (Official) #shorts", "excel 2016 tutorial"),
        ("Ｅｘｃｅｌ　ｔｕｔｏｒｉａｌ!!!", "Excel Tutorial"),
        ("GIMP tutorial [1080p]", "GIMP Tutorial 4K"),
        ("Lesson 2: Layers", "lesson #2 – layers"),
        ("Excel (Part II)", "EXCEL pt. 2"),
        ("Blender basics | Some Channel", "Blender basics"),
    ],
)
def test_same_titles(one: str, two: str) -> None:
    assert normalized_title(one, uploader="Some Channel") == normalized_title(two, uploader="Some Channel") != ""


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Excel tutorial Part 1", "Excel tutorial Part 2"), ("Excel 2016 tutorial", "Excel 365 tutorial"), ("Excel (2016)", "Excel (2019)"),
        ("Learn C++", "Learn C#"), ("Learn C++", "Learn C"), ("Blender 3.8", "Blender 38"), ("Episode 3", "Episode 30"), ("GIMP (Windows)", "GIMP (Linux)"),
        ("How to create a new folder", "How to create a folder"), ("教程 一", "教程 二"),
    ],
)  # fmt: skip
def test_different_titles(one: str, two: str) -> None:
    assert normalized_title(one) != normalized_title(two)


def test_dedup_keeps_the_first_and_names_it() -> None:
    videos = [
        video("dQw4w9WgXcQ", "Excel tutorial Part 1", url="https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
        video("other", "Another title", source="generic", url="https://youtu.be/dQw4w9WgXcQ?t=3"),
        video("b", "EXCEL Tutorial (part 1) [HD]", source="bilibili"),
        video("c", "Excel tutorial Part 2"),
        video("d", "!!!", source="tiktok"),
        video("e", "???", source="tiktok"),
        video("b", "A later copy under the dropped one's id", source="bilibili"),
    ]
    kept, dropped = dedup(videos)
    assert [item.source_id for item in kept] == ["dQw4w9WgXcQ", "c", "d", "e"]
    assert [(item.reason, item.item_id) for item in dropped] == [
        ("duplicate-source", videos[1].id), ("duplicate-title", videos[2].id), ("duplicate-source", videos[6].id),
    ]  # fmt: skip
    assert all(videos[0].id in item.detail for item in dropped)


def test_bilibili_parts_are_different_videos() -> None:
    urls = [f"https://www.bilibili.com/video/BV1xx411c7mD{rest}" for rest in ("", "/?p=1", "?p=2")]
    keys = [identity(video("x", "t", source="BiliBili", url=url)) for url in urls]
    assert keys[0] == keys[1] != keys[2]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=3), st.text(max_size=12)), max_size=12))
def test_dedup_loses_nothing_and_is_stable(rows: list[tuple[str, str, str]]) -> None:
    videos = [video(source_id, title, source=source) for source, source_id, title in rows]
    kept, dropped = dedup(videos)
    assert len(kept) + len(dropped) == len(videos)
    assert dedup(kept) == (kept, [])
    assert all(item.reason and item.detail for item in dropped)
