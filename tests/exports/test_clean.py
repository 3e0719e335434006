"""A cleaned copy passes the preflight that its original fails: blocked rows are gone, personal data is in no text and no picture."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageDraw, ImageFont

from cuamaster.action_space import CUAAction
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.exports.columns import RL, SFT, schema
from cuamaster.exports.manifest import Release, read_manifest
from cuamaster.exports.options import Options
from cuamaster.exports.preflight import Rules, problems
from cuamaster.exports.preflight.clean import clean
from cuamaster.exports.preflight.pictures import decode, pictures_in
from cuamaster.exports.preflight.screens import hide
from cuamaster.exports.rl import write_rl
from cuamaster.exports.samples import RoundData
from cuamaster.exports.sft import conversation, write_sft
from cuamaster.exports.writer import write_rows
from cuamaster.records.record import canonical_json
from cuamaster.records.trajectory import Action, Observation, Step, TextBox
from cuamaster.stages import Ports, release, release_again
from cuamaster.tables import Workspace, sha256_of, write_atomic
from cuamaster.training.data import data_for

from .conftest import World

MAIL = "alice.smith@gmail.com"
NOTHING = KnownReader(lambda _: [])


@pytest.fixture
def exported(make_round: Callable[[], RoundData], world: World, tmp_path: Path) -> Path:
    data, folder = make_round(), tmp_path / "exports"
    write_sft([data], world.store, folder)
    write_rl([data], folder)
    return folder


def test_a_cleaned_copy_is_still_a_dataset_that_a_trainer_is_pointed_at(
    dataset: Callable[..., tuple[Path, Release]], workspace: Workspace, world: World, tmp_path: Path
) -> None:
    folder, made = dataset("trl", history=2)
    shard = folder / made.files[0].name
    rows = pq.read_table(shard).to_pylist()
    rows[-1]["prompt"] = rows[-1]["prompt"].replace("Instruction: ", f"Instruction: mail {MAIL}, ")
    write_rows(shard, pq.read_schema(shard), rows)
    again = made.model_copy(update={"files": (made.files[0].model_copy(update=_file(shard)),)})
    write_atomic(folder / "manifest.json", again.model_dump_json().encode())
    clean(folder, tmp_path / "clean", Rules(), reader=NOTHING)
    left = read_manifest(tmp_path / "clean" / "manifest.json")
    assert (left.cleaned, left.splits, left.rounds, left.weights) == (True, made.splits, made.rounds, made.weights)
    assert data_for("sft", "trl", tmp_path / "clean").rows == made.splits
    assert MAIL not in str(pq.read_table(tmp_path / "clean" / made.files[0].name).column("prompt"))
    ports = Ports(world.store)
    with pytest.raises(InvalidInput, match="the rounds still hold what was taken out"):
        release_again(workspace, ports, tmp_path / "clean" / "manifest.json", tmp_path / "more")
    with pytest.raises(InvalidInput, match="holds a cleaned copy"):
        release(workspace, ports, "trl", tmp_path / "clean", Options(history=2))


def _file(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def trajectory(picture: bytes, like: dict[str, Any]) -> dict[str, Any]:
    """A row whose steps type a mail address, twice, on a screen that shows it."""
    import hashlib

    digest = hashlib.sha256(picture).hexdigest()
    width, height = Image.open(io.BytesIO(picture)).size
    seen = Observation(screenshot=digest, width=width, height=height, active_window=f"Mail to {MAIL}")
    deeds = (
        CUAAction("keyboard.type", {"text": f"{MAIL}\n{MAIL} and joe@gmail.com"}),
        CUAAction("finish", {"status": "success"}),
    )
    steps = tuple(Step(observation=seen, actions=(Action(action=deed),), thought=f"Write to {MAIL}") for deed in deeds)
    instruction = f"Write to {MAIL} about the invoice"
    messages = qwen.render_steps(steps, instruction=instruction, mode="gui")
    return {
        **like, "id": "mail", "task_id": "task-mail", "instruction": instruction, "messages": json.dumps(messages, ensure_ascii=False),
        "conversation": conversation(messages), "images": [{"bytes": picture, "path": f"{digest}.png"}] * 2, "mode": "gui",
        "tools_json": json.dumps(qwen.tools("gui"), ensure_ascii=False),
        "steps_json": canonical_json([step.model_dump(mode="json") for step in steps]), "n_steps": 2, "n_actions": 2,
    }  # fmt: skip


def screen(*texts: tuple[int, int, str]) -> bytes:
    picture = Image.new("RGB", (640, 400), (240, 240, 240))
    draw = ImageDraw.Draw(picture)
    for x, y, text in texts:
        draw.text((x, y), text, fill="black", font=ImageFont.load_default(22))
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


def with_mail(folder: Path, picture: bytes) -> None:
    rows = pq.read_table(folder / "sft.parquet").to_pylist()
    write_rows(folder / "sft.parquet", schema(SFT), [*rows, trajectory(picture, rows[0])])


def test_nothing_to_clean_is_the_same_rows(exported: Path, tmp_path: Path) -> None:
    done = clean(exported, tmp_path / "out", Rules(), reader=NOTHING)
    assert (done.dropped, done.hidden, done.pictures) == ({}, {}, 0)
    for name in ("sft.parquet", "unproven.parquet", "rl.parquet"):
        assert pq.read_table(tmp_path / "out" / name).equals(pq.read_table(exported / name))
    assert list(problems(tmp_path / "out", Rules())) == []
    assert (tmp_path / "out" / "dropped.jsonl").read_text() == ""
    assert (tmp_path / "out" / "README.md").read_text().startswith("---\n")


def test_texts_and_pictures_lose_the_same_value(exported: Path, tmp_path: Path) -> None:
    picture = screen((20, 20, f"To: {MAIL}"), (20, 200, "Unrelated"))
    with_mail(exported, picture)
    boxes = [
        TextBox(text="To:", x0=20, y0=20, x1=52, y1=46),
        # What OCR makes of it is no address any more, but near enough to the one in the texts.
        TextBox(text="alice,smith@gmai1.com", x0=55, y0=20, x1=300, y1=46),
        TextBox(text="Unrelated", x0=20, y0=200, x1=120, y1=226),
    ]
    reader = KnownReader(lambda image: boxes if image.shape == (400, 640, 3) else [])
    out = tmp_path / "out"
    done = clean(exported, out, Rules(), reader=reader)
    assert (done.dropped, done.hidden, done.pictures) == ({}, {"email": 2}, 1)
    assert {problem.check for problem in problems(out, Rules(), reader=NOTHING)} == set()  # every column agrees again
    row = next(row for row in pq.read_table(out / "sft.parquet").to_pylist() if row["id"] == "mail")
    assert row["instruction"] == "Write to [email 1] about the invoice"
    assert [call["arguments"]["text"] for call in _calls(row) if call["arguments"]["action"] == "type"] == [
        "[email 1]\n[email 1] and [email 2]"
    ]
    assert MAIL not in json.dumps({**row, "images": None}) and "gmail" not in json.dumps({**row, "images": None})
    before, after = decode(picture), decode(row["images"][0]["bytes"])
    assert (before[200:] == after[200:]).all() and (before[:, :50] == after[:, :50]).all()
    assert (after[20:46, 55:300] == after[20, 55]).all()


def _calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    answers = [
        message["content"][0]["text"] for message in json.loads(row["messages"]) if message["role"] == "assistant"
    ]
    return [call for answer in answers for call in qwen.split_answer(answer)[1]]


def test_what_is_blocked_is_left_out_with_its_reason(exported: Path, tmp_path: Path) -> None:
    rows = pq.read_table(exported / "sft.parquet").to_pylist()
    rows[0]["license"] = "CC-BY-NC-4.0"
    write_rows(exported / "sft.parquet", schema(SFT), [*rows, {**rows[1], "id": "again"}])
    tasks = pq.read_table(exported / "rl.parquet").to_pylist()
    tasks[0]["lineage_json"] = json.dumps([{"video_url": f"mailto:{MAIL}"}])
    write_rows(exported / "rl.parquet", schema(RL), tasks)
    (tmp_path / "bench.jsonl").write_text('"Do what segment-3 shows"\n')
    done = clean(exported, tmp_path / "out", Rules(benchmarks=(tmp_path / "bench.jsonl",)), reader=NOTHING)
    assert done.dropped == {"license": 1, "duplicate": 1, "personal": 1, "contaminated": 1}
    assert [file.rows for file in done.files] == [1, 2, 1]
    told = [json.loads(line) for line in (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()]
    assert {line["row"] for line in told} == {rows[0]["id"], "again", tasks[0]["task_id"], _third(exported)}
    assert MAIL not in (tmp_path / "out" / "dropped.jsonl").read_text()
    assert [problem.check for problem in problems(tmp_path / "out", Rules()) if problem.level == "blocking"] == []


def _third(folder: Path) -> str:
    rows = pq.read_table(folder / "unproven.parquet").to_pylist()
    return next(str(row["id"]) for row in rows if "segment-3" in row["instruction"])


def test_another_trainers_columns(tmp_path: Path) -> None:
    import pyarrow as pa

    picture = screen((20, 20, MAIL))
    boxes = [TextBox(text=MAIL, x0=20, y0=20, x1=300, y1=46)]
    turns = [[{"role": "user", "content": f"<image>Write to {MAIL}"}, {"role": "assistant", "content": "Done"}]]
    none = pa.array([[]], pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())])))
    table = pa.table({"images": none, "id": ["x"], "license": ["MIT"], "messages": turns, "image": [{"bytes": picture, "path": "a.png"}], "more": [json.dumps({"to": [MAIL]})]})  # fmt: skip
    (tmp_path / "in" / "train").mkdir(parents=True)
    pq.write_table(table, tmp_path / "in" / "train" / "r001-00000.parquet")
    clean(tmp_path / "in", tmp_path / "out", Rules(), reader=KnownReader(lambda _: boxes))
    row = pq.read_table(tmp_path / "out" / "train" / "r001-00000.parquet").to_pylist()[0]
    assert row["messages"][0]["content"] == "<image>Write to [email 1]" and row["more"] == '{"to": ["[email 1]"]}'
    assert row["image"]["bytes"] != picture


@pytest.mark.parametrize("name", ["openai-jsonl", "agentnet"])
def test_lines_lose_what_their_texts_and_pictures_show(
    dataset: Callable[..., tuple[Path, Release]], tmp_path: Path, name: str
) -> None:
    """One row names an address and its first picture shows it; the others stay byte for byte."""
    (folder, made), out = dataset(name), tmp_path / "clean"
    file = folder / made.files[0].name
    before = [json.loads(line) for line in file.read_text().splitlines()]
    before.sort(key=lambda row: "Do what" not in json.dumps(row))
    personal = json.loads(json.dumps(before[0]).replace("Do what", f"Mail {MAIL} what"))
    file.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in [personal, *before[1:]]))
    (folder / "manifest.json").unlink()
    first = _pictures(personal, folder)[0]
    boxes = [TextBox(text=MAIL, x0=2, y0=2, x1=30, y1=16)]
    reader = KnownReader(lambda image: boxes if np.array_equal(image, decode(first)) else [])
    done = clean(folder, out, Rules(), reader=reader)
    assert (done.dropped, done.hidden, done.pictures, done.files[0].rows) == ({}, {"email": 1}, 1, len(before))
    after = [json.loads(line) for line in (out / made.files[0].name).read_text().splitlines()]
    assert after[1:] == before[1:] and MAIL not in json.dumps(after) and "[email 1]" in json.dumps(after[0])
    old, new = _pictures(personal, folder), _pictures(after[0], out)
    assert new[1:] == old[1:] and not np.array_equal(decode(new[0]), decode(old[0]))
    assert all(map(_pictures, after[1:], [out] * len(after)))
    assert [found for found in problems(out, Rules()) if found.level == "blocking"] == []


def _pictures(row: dict[str, Any], folder: Path) -> list[bytes]:
    found = [image["bytes"] for image in pictures_in(row, folder)[0]]
    assert found and all(found)
    return found


def test_refused_places(exported: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there already"):
        clean(exported, tmp_path, Rules(), reader=NOTHING)
    (tmp_path / "lines").mkdir()
    with pytest.raises(InvalidInput, match="no Parquet files and no JSON lines"):
        clean(tmp_path / "lines", tmp_path / "out", Rules(), reader=NOTHING)


def test_a_damaged_file_leaves_no_copy(exported: Path, tmp_path: Path) -> None:
    write_atomic(exported / "rl.parquet", b"PAR1")
    with pytest.raises(IntegrityError, match=r"rl\.parquet"):
        clean(exported, tmp_path / "out", Rules(), reader=NOTHING)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blobs", "exports"]


def test_hiding_leaves_no_stroke_and_stays_inside() -> None:
    picture = decode(screen((20, 20, MAIL))).copy()
    hide(picture, TextBox(text=MAIL, x0=-50, y0=10, x1=9000, y1=50))
    assert np.ptp(picture[7:53].astype(int)) <= 1


@pytest.mark.slow
def test_real_reading_finds_nothing_afterwards(exported: Path, tmp_path: Path) -> None:
    with_mail(exported, screen((20, 20, f"To: {MAIL}"), (20, 120, "Call +1 650 253 0000"), (20, 220, "Invoice of May")))
    reader = RapidOcrReader()
    found = [problem.detail for problem in problems(exported, Rules(), reader=reader) if "picture" in problem.detail]
    assert any("email" in told for told in found) and any("phone" in told for told in found)
    clean(exported, tmp_path / "out", Rules(), reader=reader)
    assert list(problems(tmp_path / "out", Rules(), reader=reader)) == []
    rows = pq.read_table(tmp_path / "out" / "sft.parquet").to_pylist()
    shown = next(row for row in rows if row["id"] == "mail")["images"][0]["bytes"]
    assert "Invoice of May" in [box.text for box in reader.read(decode(shown))]


def test_what_a_killed_run_left_is_swept(exported: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom cuamaster.adapters.screens.known import KnownReader\n"
        "from cuamaster.exports.preflight import Rules\nfrom cuamaster.exports.preflight.clean import clean\n"
        "reader = KnownReader(lambda _: os.kill(os.getpid(), signal.SIGKILL))\n"
        "clean(Path(sys.argv[1]), Path(sys.argv[2]), Rules(), reader=reader)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(exported), str(tmp_path / "out")], check=False)
    assert killed.returncode == -9 and not (tmp_path / "out").exists() and list(tmp_path.glob(".tmp-*"))
    clean(exported, tmp_path / "out", Rules(), reader=NOTHING)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blobs", "exports", "out"]
