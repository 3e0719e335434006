"""What rows say is examined too, in our own columns and in any trainer's shape; levels and rules decide what blocks."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageDraw
from pydantic import ValidationError

from cuamaster.adapters.embedders.hashed import HashedEmbedder
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.errors import InvalidInput
from cuamaster.exports.columns import RL, SFT, schema
from cuamaster.exports.datafiles import data_files, identity
from cuamaster.exports.preflight import Problem, Rules, preflight, problems
from cuamaster.exports.preflight.findings import collect, read_findings, write_findings
from cuamaster.exports.preflight.table import table
from cuamaster.exports.rl import write_rl
from cuamaster.exports.samples import RoundData
from cuamaster.exports.sft import write_sft
from cuamaster.exports.writer import write_rows
from cuamaster.records.trajectory import TextBox

from .conftest import World

Row = dict[str, Any]


@pytest.fixture
def exported(make_round: Callable[[], RoundData], world: World, tmp_path: Path) -> Path:
    data, folder = make_round(), tmp_path / "exports"
    write_sft([data], world.store, folder)
    write_rl([data], folder)
    return folder


def checks(folder: Path, rules: Rules | None = None, **given: Any) -> set[str]:
    return {problem.check for problem in problems(folder, rules or Rules(), **given)}


def change(folder: Path, name: str, edit: Callable[[list[Row]], object]) -> None:
    rows = pq.read_table(folder / name).to_pylist()
    edit(rows)
    write_rows(folder / name, schema(RL if name.startswith("rl") else SFT), rows)


def png(colour: tuple[int, int, int], text: str = "", size: tuple[int, int] = (64, 40)) -> bytes:
    picture = Image.new("RGB", size, colour)
    ImageDraw.Draw(picture).text((4, 4), text, fill="white")
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


def lines(path: Path, *rows: object) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_a_clean_dataset_has_only_an_unknown_license(exported: Path) -> None:
    assert checks(exported) == set()
    change(exported, "sft.parquet", lambda rows: [row.update(license=None) for row in rows])
    assert checks(exported) == {"license-unknown"}
    assert preflight(exported) == []


@pytest.mark.parametrize(
    ("column", "value", "check"),
    [
        ("instruction", "Mail it to bob@gmail.com", "personal"),
        ("instruction", "Log in, the password is hunter22", "secret"),
        ("video_url", "file:///home/alice/tutorial.mp4", "trace"),
        ("license", "CC-BY-NC-4.0", "license"),
        ("license", "CC-BY-4.0 AND Standard YouTube License", "license"),
        ("instruction", " … \u200b", "instruction"),
        ("instruction", "Do it. " * 2000, "long-instruction"),
    ],
)
def test_what_a_row_says(exported: Path, column: str, value: str, check: str) -> None:
    change(exported, "sft.parquet", lambda rows: rows[0].update({column: value}))
    assert check in checks(exported)


def test_personal_data_inside_steps_is_told_with_its_place_and_without_its_value(exported: Path) -> None:
    change(exported, "sft.parquet", lambda rows: rows[0].update(steps_json=rows[0]["steps_json"].replace("groceries.txt", r"x\nbob@gmail.com")))  # fmt: skip
    told = [problem for problem in problems(exported, Rules()) if problem.check == "personal"]
    assert len(told) == 1 and told[0].detail.startswith("email in steps_json.3.observation.response")
    assert "bob" not in told[0].to_json()


def test_repeats(exported: Path) -> None:
    def twice(rows: list[Row]) -> None:
        rows += [{**rows[0], "id": "another"}, {**rows[1], "id": "third", "images": [{**rows[1]["images"][0], "bytes": png((1, 2, 3), "x")}]}]  # fmt: skip

    change(exported, "sft.parquet", twice)
    found = {
        problem.row: problem.check
        for problem in problems(exported, Rules())
        if problem.check in ("duplicate", "similar")
    }
    assert found == {"another": "duplicate", "third": "similar"}


def test_one_origin_in_two_splits(exported: Path) -> None:
    change(exported, "rl.parquet", lambda rows: rows.append({**rows[0], "split": "validation"}))
    found = checks(exported)
    assert "split-leak" in found and "repeated" in found


def test_shards_by_split_are_one_configuration(exported: Path, tmp_path: Path) -> None:
    rows = pq.read_table(exported / "sft.parquet").to_pylist()
    folder = tmp_path / "sharded"
    for place, some in (("train/r001-00000", rows[:1]), ("train/r002-00000", rows[1:2]), ("test/r001-00000", rows[:1])):
        write_rows(folder / f"{place}.parquet", schema(SFT), some)
    assert {(file.config, file.split, file.kind) for file in data_files(folder)} == {("default", "train", "sft"), ("default", "test", "sft")}  # fmt: skip
    assert {"repeated", "duplicate", "split-leak"} <= checks(folder)


def test_pictures_that_show_nothing(exported: Path) -> None:
    def shown(data: bytes) -> set[str]:
        change(exported, "sft.parquet", lambda rows: rows[0]["images"][0].update(bytes=data))
        return checks(exported) & {"black", "blank", "images"}

    assert shown(png((0, 0, 0))) == {"black", "images"}  # it is not the picture that the step names either
    assert shown(png((30, 90, 200))) == {"blank", "images"}
    assert shown(png((30, 90, 200), "ok")) == {"images"}
    assert shown(b"") == {"images"}


def test_a_screen_that_never_changes(tmp_path: Path) -> None:
    picture = {"bytes": png((9, 9, 99), "a"), "path": "a.png"}
    table = pa.table({"id": ["x"], "instruction": ["Open it"], "images": [[picture] * 3], "license": ["MIT"]})
    pq.write_table(table, tmp_path / "other.parquet")
    assert checks(tmp_path) == {"frozen"}


@pytest.mark.parametrize("value", ["1000.5", "-1", '"left"', "true", "null"])
def test_coordinates_outside(exported: Path, value: str) -> None:
    def move(rows: list[Row]) -> None:
        row = next(row for row in rows if '"x":5' in row["steps_json"])
        row["steps_json"] = row["steps_json"].replace('"x":5', f'"x":{value}', 1)

    change(exported, "sft.parquet", move)
    assert {"coordinates", "steps"} <= checks(exported) or value == "true"


def test_certificates(exported: Path) -> None:
    def refuse(rows: list[Row]) -> None:
        rows[0]["certificate_json"] = rows[0]["certificate_json"].replace('"status":"passed"', '"status":"failed"')
        rows[1]["certificate_json"] = "{}"

    change(exported, "rl.parquet", refuse)
    told = [problem.detail for problem in problems(exported, Rules()) if problem.check == "certificate"]
    assert len(told) == 2 and "does not release" in told[0] and "is none" in told[1]


def test_benchmarks(exported: Path, tmp_path: Path) -> None:
    bench = tmp_path / "bench.jsonl"
    lines(bench, {"instruction": "Do what SEGMENT-1 shows!"})
    rules = Rules(benchmarks=(bench,))
    assert checks(exported, rules) == {"contaminated"}
    lines(bench, {"instruction": "what segment-2 shows, do"})
    assert checks(exported, rules) == set()
    assert checks(exported, Rules(benchmarks=(bench,), similarity=0.6), embedder=HashedEmbedder()) == {
        "contaminated-meaning"
    }


def test_text_on_pictures_is_read_when_a_reader_is_given(exported: Path) -> None:
    boxes = [TextBox(text="To:", x0=1, y0=1, x1=9, y1=9), TextBox(text="bob@gmail.com", x0=12, y0=1, x1=60, y1=9)]
    told = [
        problem
        for problem in problems(exported, Rules(), reader=KnownReader(lambda _: boxes))
        if problem.check == "personal"
    ]
    assert len(told) == 12 and told[0].detail == "email on picture 0 at 12,1-60,9"


def test_balance(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "instruction": f"Open {n}", "domain": "web" if n else "office", "license": "MIT"}
        for n in range(40)
    ]
    lines(tmp_path / "all.jsonl", *rows)
    assert [problem.detail for problem in problems(tmp_path, Rules())] == ["all: domain is web in 39 of 40 rows (98%)"]
    assert checks(tmp_path, Rules(dominance=0.99)) == set()


def test_any_shape_with_pictures_beside_it(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(png((9, 9, 99), "a"))
    (tmp_path / "images" / "cut.png").write_bytes(png((9, 9, 99), "b")[:-20])
    url = f"data:image/png;base64,{base64.b64encode(png((9, 9, 99), 'c')).decode()}"
    step = {"value": {"code": "pyautogui.click(x=0.5, y=0.5)"}}
    lines(
        tmp_path / "agentnet.jsonl",
        {"task_id": "fine", "instruction": "Open it", "license": "MIT", "traj": [{"image": "a.png", **step}, {"image": "images/a.png", **step}]},
        {"task_id": "lost", "instruction": "Open that", "license": "MIT", "traj": [{"image": "b.png", **step}, {"image": "../../etc/passwd", **step}]},
        {"task_id": "cut", "instruction": "Open this", "license": "MIT", "traj": [{"image": "cut.png", **step}]},
        {"task_id": "out", "instruction": "Open them", "license": "MIT", "traj": [{"image": "a.png", "value": {"code": "pyautogui.click(x=1.4, y=0)"}}]},
    )  # fmt: skip
    lines(tmp_path / "openai.jsonl", {"license": "MIT", "messages": [{"role": "user", "content": [{"type": "text", "text": "Go"}, {"type": "image_url", "image_url": {"url": url}}]}]})  # fmt: skip
    found = [(problem.row, problem.detail.split(":")[0]) for problem in problems(tmp_path, Rules())]
    assert found == [
        ("lost", "picture of step 0 is missing"),
        ("lost", "picture of step 1 is missing"),
        ("cut", "picture of step 0 does not decode"),
        ("out", "step 0"),
    ]


def _told(system: str, *turns: tuple[str, Any]) -> list[Row]:
    return [{"role": "system", "content": system}, *({"role": role, "content": said} for role, said in turns)]


def _call(*place: int) -> str:
    call = {"name": "computer_use", "arguments": {"action": "left_click", "coordinate": place}}
    return f"Click\n<tool_call>\n{json.dumps(call)}\n</tool_call>"


def test_places_outside_in_the_messages_of_others(tmp_path: Path) -> None:
    """Qwen's calls are read where the system message tells the unit; of other words nobody can say what is outside."""
    grid, pixels = "* The screen's resolution is 1000x1000.", "* The screen's resolution is 1932x1092."
    xml = "<tool_call>\n<function=computer_use>\n<parameter=action>\nleft_click\n</parameter>\n<parameter=coordinate>\n[4, 1003]\n</parameter>\n</function>\n</tool_call>"  # fmt: skip
    beside = {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [-1, 3]}}},
    ]}  # fmt: skip
    user = ("user", "Save it")
    rows: list[Row] = [
        {"id": "in", "messages": _told(grid, user, ("assistant", _call(1000, 3)))},
        {"id": "out", "messages": _told(grid, user, ("assistant", _call(2, 3)), user, ("assistant", _call(1003, 3)))},
        {"id": "pixels", "messages": json.dumps(_told(pixels, user, ("assistant", _call(1800, 3))))},
        {"id": "far", "messages": _told(pixels, user, ("assistant", [{"type": "text", "text": _call(1940, 3)}]))},
        {"id": "xml", "messages": _told(grid, user, ("assistant", xml))},
        {"id": "beside", "messages": [*_told(grid, user), beside]},
        {"id": "step", "prompt": _told(grid, user), "completion": [{"role": "assistant", "content": _call(3, 2000)}]},
        {"id": "pair", "prompt": _told(grid, user), "chosen": [{"role": "assistant", "content": _call(3, 4)}],
         "rejected": [{"role": "assistant", "content": _call(3, 4000)}]},
        {"id": "unknown", "messages": _told("Use the tool.", user, ("assistant", _call(1003, 3)))},
        {"id": "chat", "messages": _told(grid, user, ("assistant", "I cannot do (2000, 3000)."))},
    ]  # fmt: skip
    lines(tmp_path / "x.jsonl", *rows)
    found = [
        (problem.row, problem.detail.split(":")[0])
        for problem in problems(tmp_path, Rules())
        if problem.check == "coordinates"
    ]
    assert found == [
        ("out", "step 1"),
        ("far", "step 0"),
        ("xml", "step 0"),
        ("beside", "step 0"),
        ("step", "step 0"),
        ("pair", "rejected 0"),
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"instruction": "Go"}\n{"instruc', "line 2: not JSON"),
        (b"\xff\xfe\n", "line 1: not JSON"),
        (b"[1]\n", "line 1: not an object"),
        (b'{"instruction": "\\ud800"}\n', "line 1: holds half of a surrogate pair"),
        (b"[" * 100_000 + b"\n", "line 1: not JSON"),
    ],
)
def test_damaged_lines_are_named(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    found = [problem.detail for problem in problems(tmp_path, Rules()) if problem.check == "readable"]
    assert len(found) == 1 and told in found[0]


@pytest.mark.parametrize(
    "row",
    [
        {"instruction": 7, "messages": 3, "images": 5, "traj": 9, "steps_json": "{"}, {"messages": "[{]", "license": 4}, {"steps": [1, None], "bbox": "abc"},
        {"instruction": "Go", "bbox": ["a"], "width": 3}, {"images": [None, 3, {"path": "\x00"}], "image": {"bytes": 3}}, {},
    ],
)  # fmt: skip
def test_a_row_of_no_shape_is_a_problem_of_that_row(tmp_path: Path, row: object) -> None:
    lines(tmp_path / "x.jsonl", row, {"id": "good", "instruction": "Open it", "license": "MIT"})
    found = list(problems(tmp_path, Rules()))
    assert found and {problem.row for problem in found} == {"row 0"}


def test_an_instruction_of_megabytes(tmp_path: Path) -> None:
    lines(tmp_path / "x.jsonl", {"instruction": "word " * 400_000, "license": "MIT"})
    assert checks(tmp_path) == {"long-instruction"}


def test_the_manifest_is_held_to(exported: Path) -> None:
    data = (exported / "sft.parquet").read_bytes()
    named = [{"name": "sft.parquet", "sha256": "0" * 64}, {"name": "gone.parquet", "sha256": "0" * 64}]
    (exported / "manifest.json").write_text(json.dumps({"files": named}))
    told = {problem.file: problem.detail for problem in preflight(exported)}
    assert told == {
        "sft.parquet": "is not the file that the manifest names",
        "gone.parquet": "is named by the manifest but is not there",
        "rl.parquet": "is not named by the manifest",
        "unproven.parquet": "is not named by the manifest",
    }
    (exported / "manifest.json").write_text("{")
    assert [problem.check for problem in preflight(exported)] == ["manifest"]
    assert data == (exported / "sft.parquet").read_bytes()


def test_levels() -> None:
    rules = Rules(levels={"personal": "warning", "trace": "off"})
    assert (rules.level("personal"), rules.level("trace"), rules.level("secret")) == ("warning", "off", "blocking")
    with pytest.raises(ValidationError, match="no such check: nonsense"):
        Rules(levels={"nonsense": "off"})


def test_no_such_place_and_an_unknown_license(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        preflight(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="CC-BY-99"):
        list(problems(tmp_path, Rules(licenses=("CC-BY-99",))))


def test_findings_count_everything_and_keep_few(exported: Path) -> None:
    many = (Problem(file="f", row=str(n), check="personal", detail="email") for n in range(10_000))
    findings = collect(many, Rules(), dataset=identity(exported), now=datetime(2026, 1, 1, tzinfo=UTC))
    assert (findings.blocking, findings.warnings, len(findings.findings[0].examples)) == (10_000, 0, 5)
    write_findings(exported, findings)
    assert read_findings(exported) == findings
    change(exported, "rl.parquet", lambda rows: rows.pop())
    assert read_findings(exported) is None  # they were of other files


def test_the_page_lists_the_checks_there_are() -> None:
    page = Path(__file__).parents[2] / "docs" / "preflight.md"
    assert page.read_text().endswith(f"\n{table()}\n")
