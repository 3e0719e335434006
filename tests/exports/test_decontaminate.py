"""Benchmarks are kept out by equal words, by overlap, and by meaning; other tasks are let through."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.adapters.embedders.minilm import MiniLmEmbedder
from cuamaster.errors import InvalidInput
from cuamaster.exports.preflight.decontaminate import Benchmarks, read_instructions

LINES = """\
{"id": "1", "instruction": "Could you change the 2 in “2x + 3” to a subscript in the open document?"}
"Install Spotify on my current system."
{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "Sort column B in descending order"}]}]}

"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    path = tmp_path / "bench.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_equal_but_for_case_blanks_and_punctuation(bench: Path) -> None:
    found = Benchmarks([bench])
    assert len(found) == 3
    assert found.overlap("install spotify  on my current System").startswith("equals bench.jsonl")
    assert found.overlap("Ｓort column B, in descending order!").startswith("equals")


def test_a_benchmark_inside_a_longer_task(bench: Path) -> None:
    told = Benchmarks([bench]).overlap(
        "Open budget.gnumeric. Then change the 2 in 2x + 3 to a subscript. At the end, save it."
    )
    assert "% of the 4-grams" in told and "subscript" in told


def test_a_benchmark_without_blanks_inside_a_longer_task(tmp_path: Path) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_text('"打开终端并创建一个名为测试的文件夹"\n', encoding="utf-8")
    found = Benchmarks([path])
    assert "100% of the 4-grams" in found.overlap("请先打开终端并创建一个名为测试的文件夹，然后关闭窗口")
    assert not found.overlap("打开终端并关闭窗口") and not found.overlap("Open the terminal")


@pytest.mark.parametrize(
    "text", ["Save the document as notes.txt", "Sort column", "Install GIMP on my machine", "", "…"]
)
def test_other_tasks_pass(bench: Path, text: str) -> None:
    assert Benchmarks([bench]).overlap(text) == ""


def test_meaning(bench: Path) -> None:
    found = Benchmarks([bench], similarity=0.75, embedder=MiniLmEmbedder())
    same, other = found.meanings(["Order column B from largest to smallest", "Rename the folder to holiday"])
    assert "Sort column B" in same and other == ""
    assert Benchmarks([bench]).meanings(["Sort column B in descending order"]) == [""]


@pytest.mark.parametrize(
    ("line", "told"),
    [("{", "line 2: not JSON"), ('{"id": 3}', "line 2: holds no instruction"), ("[1]", "line 2: holds no instruction")],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(f'"Open it"\n{line}\n')
    with pytest.raises(InvalidInput, match=told):
        list(read_instructions(path))


def test_no_such_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nowhere"):
        Benchmarks([tmp_path / "nowhere.jsonl"])
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        Benchmarks([tmp_path / "x.jsonl"])
