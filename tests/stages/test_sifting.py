"""Candidates in, each video once and screened out: reasons, order, cuts of the input, several processes, and a kill half way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuamaster.errors import IntegrityError
from cuamaster.records.episode import Dropped
from cuamaster.records.video import Video
from cuamaster.seeding.screen import ScreenRules
from cuamaster.seeding.taxonomy import load
from cuamaster.stages import in_turn, sifting
from cuamaster.tables import RoundFolder, Workspace, slices

ABOUT = "Step by step I show how to select the subject, add a layer mask and export the picture for the web."


def video(source_id: str, title: str = "", **fields: Any) -> Video:
    given = {
        "source": "youtube",
        "source_id": source_id,
        "url": f"https://x/{source_id}",
        "title": title or f"Video {source_id}",
    }
    return Video(**{**given, **fields})


def sifted(place: Path, *parts: Sequence[Video], workers: int = 1) -> RoundFolder:
    folder = Workspace(place).round(1)
    for number, part in enumerate(parts):
        folder.stage("search").write(f"part-{number}", part)
    folder.stage("search").close("candidates")
    sifting.sketch_all(folder, in_turn, workers)
    sifting.drop_duplicates(folder, in_turn)
    return folder


def outcome(folder: RoundFolder) -> tuple[set[str], dict[str, str]]:
    """Ids kept, and id -> reason of the rest."""
    stage = folder.stage("discover")
    return {item.source_id for item in stage.kept(Video)}, {item.item_id: item.reason for item in stage.dropped()}


def test_each_video_once_and_the_earliest_stays(tmp_path: Path) -> None:
    first = video(
        "a", "Excel tutorial Part 1", url="https://www.youtube.com/watch?v=dQw4w9WgXcQ", upload_date="2020-01-01"
    )
    again = video(
        "x", "Another title", source="generic", url="https://youtu.be/dQw4w9WgXcQ?t=3", upload_date="2020-01-02"
    )
    title = video("b", "EXCEL Tutorial (part 1) [HD]", source="bilibili", upload_date="2021-01-01")
    later = video("b", "The same id, found later", source="bilibili", upload_date="2022-01-01")
    apart = [
        video("c", "Excel tutorial Part 2"),
        video("d", "!!!", source="tiktok"),
        video("e", "???", source="tiktok"),
    ]
    folder = sifted(tmp_path, [title, later, *apart], [again, first])
    kept, dropped = outcome(folder)
    assert kept == {"a", "c", "d", "e"}
    assert dropped == {again.id: "duplicate-source", title.id: "duplicate-title"} or dropped[title.id] in (
        "duplicate-source",
        "duplicate-title",
    )
    drops = folder.stage("discover").dropped()
    assert len(drops) == 3 and all(first.id in item.detail for item in drops), "each names what is kept in its place"


def test_a_reupload_goes_and_a_sibling_stays(tmp_path: Path) -> None:
    fields = {"duration": 301.0, "description": ABOUT, "upload_date": "2020-05-01", "uploader": "maker"}
    made = video("a", "How to remove the background in GIMP", **fields)
    near = [
        video(
            "b",
            "How to remove background in GIMP easily",
            **{**fields, "uploader": "mirror", "duration": 301.4, "upload_date": "2021-01-01"},
        ),
        video(
            "c",
            "GIMP: how to remove the backgrond",
            **{**fields, "uploader": "other", "duration": 315.0, "upload_date": "2022-01-01"},
        ),
    ]
    other = [
        video("d", "How to remove the foreground in GIMP", **{**fields, "upload_date": "2020-05-08"}),
        video("e", "How to remove the background in GIMP 3", **{**fields, "upload_date": "2020-05-09"}),
        video(
            "f",
            "How to remove the background in GIMP, longer talk",
            **{**fields, "duration": 900.0, "upload_date": "2020-05-10"},
        ),
    ]
    kept, dropped = outcome(sifted(tmp_path, [*near, *other, made]))
    assert kept == {"a", "d", "e", "f"}
    assert dropped == {item.id: "near-duplicate" for item in near}


ROWS = st.lists(
    st.builds(
        lambda n, title, day, length, owner: video(str(n), title, upload_date=day, duration=length, uploader=owner),
        st.integers(0, 9),
        st.sampled_from(["crop an image in gimp", "crop an imge in gimp", "crop images in gimp", "crop an image in krita", "Crop an image in GIMP 2", "教程", ""]),
        st.sampled_from([None, "2020-01-01", "2021-01-01"]),
        st.sampled_from([None, 60.0, 60.5, 90.0]),
        st.sampled_from([None, "one", "two"]),
    ),
    min_size=1,
    max_size=14,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cut=st.integers(0, 14))
def test_any_order_and_cut_gives_the_same_and_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Video], cut: int
) -> None:
    whole = sifted(tmp_path_factory.mktemp("whole"), rows)
    parts = [part for part in (rows[cut:][::-1], rows[:cut]) if part]
    cut_up = sifted(tmp_path_factory.mktemp("cut"), *parts)
    seen = whole.stage("discover")
    assert sorted(item.to_json() for item in seen.kept(Video)) == sorted(
        item.to_json() for item in cut_up.stage("discover").kept(Video)
    )
    assert sorted(item.to_json() for item in seen.dropped()) == sorted(
        item.to_json() for item in cut_up.stage("discover").dropped()
    )
    assert len(seen.kept(Video)) + len(seen.dropped()) == len(rows)
    again = sifted(tmp_path_factory.mktemp("again"), seen.kept(Video))
    assert len(again.stage("discover").kept(Video)) == len(seen.kept(Video)), "what is kept holds no duplicates"


def test_a_kill_half_way_loses_nothing_and_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [video(str(n), f"Title {n} about layers", query="q", app="gimp") for n in range(7)]
    monkeypatch.setattr("cuamaster.tables.shards.SHARD_ROWS", 2)
    folder = Workspace(tmp_path).round(1)
    for number in range(0, len(rows), 2):
        folder.stage("search").write(f"p{number}", rows[number : number + 2])
    folder.stage("search").close("candidates")
    assert len(slices(folder.stage("search"))) == 4
    done: list[str] = []

    def stops(name: str, items: Sequence[Any], work: Callable[[Any], None], label: Callable[[Any], str]) -> None:
        for item in items[:2]:
            work(item)
            done.append(label(item))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sifting.sketch_all(folder, stops)
    seen: list[str] = []

    def goes_on(name: str, items: Sequence[Any], work: Callable[[Any], None], label: Callable[[Any], str]) -> None:
        seen.extend(map(label, items))
        in_turn(name, items, work, label)

    sifting.sketch_all(folder, goes_on)
    assert len(done) == len(seen) == 2 and not set(done) & set(seen)
    sifting.drop_duplicates(folder, in_turn)
    assert len(folder.stage("discover").kept(Video)) == 7
    sifting.sketch_all(folder, goes_on)
    assert len(seen) == 2, "a closed stage is not run again"


@pytest.mark.slow
def test_several_processes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        video(
            str(n),
            f"How to crop image {n % 40} in GIMP" if n % 3 else f"My honest review of GIMP after {n} days",
            query="q",
            app="gimp",
        )
        for n in range(90)
    ]
    monkeypatch.setattr("cuamaster.tables.shards.SHARD_ROWS", 9)
    found = []
    for workers in (1, 2):
        folder = sifted(
            tmp_path / str(workers), *(rows[begin : begin + 9] for begin in range(0, 90, 9)), workers=workers
        )
        sifting.screen_all(folder, load(), ScreenRules(), in_turn, workers)
        stage = folder.stage("screen")
        found.append(
            (sorted(item.to_json() for item in stage.kept(Video)), sorted(item.to_json() for item in stage.dropped()))
        )
    assert found[0] == found[1] and all(found[0])


def test_screening_keeps_the_row_and_names_the_application(tmp_path: Path) -> None:
    good = video("a", "Gnumeric budget", categories=("Education", "Howto"), view_count=3)
    folder = sifted(
        tmp_path,
        [good, video("b", "GIMP review: worth it?", query="GIMP tutorial", app="gimp"), video("c", "x", duration=1.0)],
    )
    sifting.screen_all(folder, load(), ScreenRules(), in_turn)
    stage = folder.stage("screen")
    assert stage.kept(Video) == [good.model_copy(update={"app": "gnumeric"})]
    assert {item.reason for item in stage.dropped()} == {"noise-review", "too-short"}
    assert all(isinstance(item, Dropped) and "https://x/" in item.detail for item in stage.dropped())


def test_nothing_found_is_no_fault_and_damage_is_one(tmp_path: Path) -> None:
    kept, dropped = outcome(sifted(tmp_path / "empty"))
    assert not kept and not dropped
    folder = Workspace(tmp_path / "damaged").round(1)
    folder.stage("search").write("p", [video("a")])
    folder.stage("search").close("candidates")
    sifting.sketch_all(folder, in_turn)
    for path in folder.stage("sketch").files("kept"):
        path.write_bytes(b"PAR1 no more")
    with pytest.raises(IntegrityError, match="sketch"):
        sifting.drop_duplicates(folder, in_turn)
