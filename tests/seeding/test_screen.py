"""What metadata, titles and the probe drop, with reasons; unknown facts drop nothing."""

from __future__ import annotations

from typing import Any

import pytest

from cuamaster.records.video import MediaInfo, Video
from cuamaster.seeding.screen import ScreenRules, media_fault, screen
from cuamaster.seeding.taxonomy import load

TAXONOMY = load()
RULES = ScreenRules(uploaded_after="2020-01-01", uploaded_before="2026-12-31")


def video(title: str = "GIMP tutorial", **fields: Any) -> Video:
    return Video(
        **{
            "source": "youtube",
            "source_id": title,
            "url": "https://x",
            "title": title,
            "app": "gimp",
            "query": "GIMP tutorial",
            **fields,
        }
    )


def reason(item: Video, rules: ScreenRules = RULES) -> str | None:
    kept, dropped = screen([item], TAXONOMY, rules)
    assert len(kept) + len(dropped) == 1
    return dropped[0].reason if dropped else None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None), ({"duration": None, "upload_date": None, "availability": None}, None), ({"duration": 300.0, "upload_date": "2024-02-03"}, None),
        ({"duration": 4.0}, "too-short"), ({"duration": 7200.0}, "too-long"), ({"upload_date": "2012-01-01"}, "too-old"),
        ({"upload_date": "2030-01-01"}, "too-new"), ({"upload_date": "garbage"}, None), ({"availability": "private"}, "unavailable"),
        ({"availability": "subscriber_only"}, "unavailable"), ({"availability": "unlisted"}, None), ({"app": "nosuch"}, "unknown-application"),
        ({"title": "Krita tutorial for beginners"}, "other-application"), ({"title": "Photo editing tutorial"}, "application-not-named"),
        ({"title": "Photo editing tutorial", "description": "We use GIMP."}, None), ({"title": "GIMP and Krita tutorial"}, None),
        ({"title": "GIMP song", "categories": ("Music",)}, "foreign-category"), ({"categories": ("Music",)}, None),
        ({"categories": ("Education",)}, None),
    ],
)  # fmt: skip
def test_metadata(fields: dict[str, Any], expected: str | None) -> None:
    assert reason(video(**fields)) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("GIMP: 50% discount code and giveaway", "noise-promotion"), ("GIMP funny moments compilation", "noise-entertainment"),
        ("Learn English vocabulary with GIMP tutorial", "noise-language-lesson"), ("GIMP breaking news", "noise-news"), ("GIMP review: worth it?", "noise-review"),
        ("GIMP vs Photoshop", "noise-review"), ("How to make a music video in GIMP", None), ("GIMP tutorial: review your layers", None),
        ("GIMP for beginners", None), ("Reviewing layers in GIMP", None),
    ],
)  # fmt: skip
def test_noise(title: str, expected: str | None) -> None:
    assert reason(video(title)) == expected


def test_software_mentioned_in_passing_and_a_sponsor_below_a_tutorial() -> None:
    assert reason(video("My holiday in Rome", description="Edited with GIMP")) == "only-mentioned"
    assert reason(video("GIMP tutorial", description="sponsored; coupon; giveaway")) is None


def test_other_languages_have_their_own_noise() -> None:
    assert reason(video("GIMP 评测", language="zh")) == "noise-review"
    assert reason(video("GIMP 教程", language="zh")) is None
    assert reason(video("GIMP im Test", language="de-AT")) == "noise-review"


def test_a_users_own_folder_needs_no_application_and_gets_one_if_named() -> None:
    kept, dropped = screen(
        [video("my recording", app=None, query=None), video("Gnumeric budget", app=None, query=None)], TAXONOMY, RULES
    )
    assert dropped == [] and [item.app for item in kept] == [None, "gnumeric"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"title": "GIMP tutorial " * 800}, None), ({"title": "\u202eGIMP\u202c \u200btutorial"}, None), ({"duration": float("nan")}, "too-short"),
        ({"duration": 12 * 3600.0}, "too-long"), ({"upload_date": "2026-12-31"}, "future-date"), ({"upload_date": "2026-11-30"}, None),
        ({"title": "GIMP 2019 tutorial", "upload_date": "2021-05-01"}, None), ({"title": "GIMP 2024 tutorial", "upload_date": "2021-05-01"}, "version-after-upload"),
        ({"title": "GIMP 2022 tutorial", "upload_date": "2021-11-01"}, None), ({"description": "x" * 1_000_000}, None), ({"title": "GIMP \ud800"}, "noise-"),
    ],
)  # fmt: skip
def test_odd_metadata(fields: dict[str, Any], expected: str | None) -> None:
    kept, dropped = screen(
        [Video.model_construct(**video().model_dump() | fields)], TAXONOMY, RULES, today="2026-11-30"
    )
    assert len(kept) + len(dropped) == 1
    if expected != "noise-":  # half a surrogate pair: anything but a fault
        assert (dropped[0].reason if dropped else None) == expected


@pytest.mark.parametrize(
    ("fields", "captions", "expected"),
    [
        ({}, False, None), ({"width": 720, "height": 1280}, False, None), ({"width": 320, "height": 240}, False, None), ({"has_audio": False}, False, "no-narration"), ({"has_audio": False}, True, None),
        ({"has_video": False}, False, "no-video-stream"), ({"duration": 3.0}, True, "too-short"),
    ],
)  # fmt: skip
def test_probe(fields: dict[str, Any], captions: bool, expected: str | None) -> None:
    info = MediaInfo(**{"duration": 60.0, "fps": 30.0, "width": 1280, "height": 720, "has_audio": True, **fields})
    fault = media_fault(video(), info, RULES, has_captions=captions)
    assert (fault.reason if fault else None) == expected
    assert fault is None or (fault.item_id == video().id and fault.detail)
