"""A stage does each item once, keeps why items were dropped, stops for what is nobody's fault, and resumes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from cuamaster.errors import EndpointUnavailable, MediaError, SourceUnavailable, StoreFull
from cuamaster.records.episode import Dropped
from cuamaster.records.video import Query
from cuamaster.stages.running import NONE, Patience, Result, in_turn, run
from cuamaster.tables import StageFolder


def _query(text: str) -> Query:
    return Query(text=text, app="mousepad", provider="local")


def _run(
    stage: StageFolder,
    texts: list[str],
    seen: list[str],
    fault: Mapping[str, Exception | None] | None = None,
    given: str = "",
    patience: Patience = NONE,
) -> None:
    def work(text: str) -> Result:
        seen.append(text)
        if fault and (exc := fault.get(text)) is not None:
            raise exc
        return [_query(text)], ()

    run(stage, texts, work, key=str, each=in_turn, given=given, patience=patience)


def _texts(stage: StageFolder) -> list[str]:
    return sorted(query.text for query in stage.kept(Query))


def test_a_closed_stage_is_not_entered_again(tmp_path: Path) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    for _ in range(2):
        _run(stage, ["a", "b"], seen)
    assert seen == ["a", "b"]
    assert _texts(stage) == ["a", "b"]


def test_an_items_own_fault_drops_it_with_a_reason(tmp_path: Path) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    fault = MediaError("broken", reason="corrupt")
    _run(stage, ["a", "b"], seen, {"a": fault})
    assert _texts(stage) == ["b"]
    assert stage.dropped() == [Dropped(item_id="a", stage="stage", reason="corrupt", detail=str(fault))]


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


_WORKER = """
import sys, time
from pathlib import Path
from cuamaster.records.video import Query
from cuamaster.stages.running import in_turn, run
from cuamaster.tables import StageFolder
folder, name, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
def work(text):
    with (folder / "log").open("a") as log:
        log.write(f"{name} {text}\\n")
    time.sleep(seconds)
    return [Query(text=text, app="mousepad", provider="local")], ()
run(StageFolder(folder / "stage"), list("abcdefgh"), work, key=str, each=in_turn)
"""


def _worker(folder: Path, name: str, seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _WORKER, str(folder), name, str(seconds)])


@pytest.mark.slow
def test_what_a_killed_process_had_in_hand_is_done_by_the_other(tmp_path: Path) -> None:
    doomed = _worker(tmp_path, "doomed", 60)
    deadline = time.monotonic() + 60
    while not (tmp_path / "log").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    other = _worker(tmp_path, "other", 0)
    while (tmp_path / "log").read_text().count("other") < 7:
        assert time.monotonic() < deadline and other.poll() is None
        time.sleep(0.01)
    doomed.kill()
    doomed.wait()
    assert other.wait(60) == 0
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[0] == "doomed a" and lines[-1] == "other a" and len(lines) == 9


def test_what_must_wait_is_put_off_and_done_by_the_next_run(tmp_path: Path) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    _run(stage, ["a", "b", "c"], seen, {"b": SourceUnavailable("429", site="x", until=1e12)})
    assert seen == ["a", "b", "c"] and _texts(stage) == ["a", "c"], "the others are done, and nothing waits"
    assert stage.dropped() == [] and stage.manifest() is not None, "what follows can be done with what is there"
    _run(stage, ["a", "b", "c"], seen, {"b": SourceUnavailable("429", site="x", until=1e12)})
    _run(stage, ["a", "b", "c"], seen)
    _run(stage, ["a", "b", "c"], seen)
    assert seen == ["a", "b", "c", "b", "b"] and _texts(stage) == ["a", "b", "c"]
    stage.verify()


def test_a_short_wait_is_waited_for_within_the_run(tmp_path: Path) -> None:
    stage, seen, now, waits = StageFolder(tmp_path / "stage"), list[str](), [100.0], list[float]()
    faults: dict[str, Exception | None] = {
        "a": SourceUnavailable("429", site="x", until=160.0), "b": SourceUnavailable("503", site="y", until=1000.0),
        "c": SourceUnavailable("who knows"),
    }  # fmt: skip

    def wait(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds
        faults["a"] = None

    _run(stage, ["a", "b", "c", "d"], seen, faults, patience=Patience(300.0, lambda: now[0], wait))
    assert (seen, waits) == (["a", "b", "c", "d", "a"], [60.0]) and _texts(stage) == ["a", "d"]


def test_a_source_that_is_always_ready_and_never_answers_ends_the_patience(tmp_path: Path) -> None:
    stage, seen = StageFolder(tmp_path / "stage"), list[str]()
    patience = Patience(60.0, lambda: 100.0, lambda _: None)
    _run(stage, ["a"], seen, {"a": SourceUnavailable("busy", until=50.0)}, patience=patience)
    assert len(seen) == 13 and _texts(stage) == []
