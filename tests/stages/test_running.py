"""A stage does each item once, keeps why items were dropped, stops for what is nobody's fault, and resumes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.errors import EndpointUnavailable, MediaError, SourceUnavailable, StoreFull
from cuamaster.records.episode import Dropped
from cuamaster.records.video import Query
from cuamaster.stages.running import Result, in_turn, run
from cuamaster.tables import StageFolder


def _query(text: str) -> Query:
    return Query(text=text, app="mousepad", provider="local")


def _run(
    stage: StageFolder, texts: list[str], seen: list[str], fault: dict[str, Exception] | None = None, given: str = ""
) -> None:
    def work(text: str) -> Result:
        seen.append(text)
        if fault and text in fault:
            raise fault[text]
        return [_query(text)], ()

    run(stage, texts, work, key=str, each=in_turn, given=given)


def _texts(stage: StageFolder) -> list[str]:
    return sorted(query.text for query in stage.kept(Query))


def test_a_closed_stage_is_not_entered_again(tmp_path: Path) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    for _ in range(2):
        _run(stage, ["a", "b"], seen)
    assert seen == ["a", "b"]
    assert _texts(stage) == ["a", "b"]


@pytest.mark.parametrize("fault", [MediaError("broken", reason="corrupt"), SourceUnavailable("later")])
def test_an_items_own_fault_drops_it_with_a_reason(tmp_path: Path, fault: Exception) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    _run(stage, ["a", "b"], seen, {"a": fault})
    assert _texts(stage) == ["b"]
    reason = "corrupt" if isinstance(fault, MediaError) else "source-unavailable"
    assert stage.dropped() == [Dropped(item_id="a", stage="stage", reason=reason, detail=str(fault))]


@pytest.mark.parametrize("fault", [EndpointUnavailable("503"), StoreFull("full"), KeyboardInterrupt()])
def test_other_faults_stop_the_stage_and_the_next_run_goes_on(tmp_path: Path, fault: BaseException) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    with pytest.raises(type(fault)):
        _run(stage, ["a", "b", "c"], seen, {"b": fault})  # type: ignore[dict-item]
    assert stage.manifest() is None
    _run(stage, ["a", "b", "c"], seen)
    assert seen == ["a", "b", "b", "c"]
    assert _texts(stage) == ["a", "b", "c"]


def test_new_items_are_added_and_old_ones_forgotten(tmp_path: Path) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    _run(stage, ["a", "b"], seen)
    _run(stage, ["b", "c"], seen)
    assert seen == ["a", "b", "c"]
    assert _texts(stage) == ["b", "c"]


def test_an_item_is_done_again_when_what_it_depends_on_changed(tmp_path: Path) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    _run(stage, ["a"], seen, given="rules")
    _run(stage, ["a"], seen, given="openai_api")
    assert seen == ["a", "a"]
    assert _texts(stage) == ["a"]
