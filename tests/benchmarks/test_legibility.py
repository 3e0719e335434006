"""The benchmark of legibility: its words are where it says, and its figures fall when they are misread or the limits err."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from cuamaster.records.trajectory import TextBox

_FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "legibility.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_legibility", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


class Reads:
    """Reads the lines of a page as they are, but for words that it is to get wrong."""

    name = "reads"

    def __init__(self, lines: list[tuple[float, float, list[str]]], wrong: int = 0) -> None:
        self.lines, self.wrong = lines, wrong

    def read(self, image: object, *, region: object = None) -> list[TextBox]:
        words = [(top, bottom, word) for top, bottom, row in self.lines for word in row]
        return [
            TextBox(text=word if index >= self.wrong else "#?", x0=20 * index, x1=20 * index + 9, y0=360 * top, y1=360 * bottom, score=0.97)
            for index, (top, bottom, word) in enumerate(words)
        ]  # fmt: skip


def test_pages_have_the_size_that_is_read_and_their_lines_inside(bench: ModuleType) -> None:
    for scale in (1.0, 0.28):
        drawn, lines = bench.page(bench.TUNED[0], 1, scale)
        assert bench.shrunk(drawn, scale).shape == (360, 640, 3)
        assert all(0 < top < bottom < 1 for top, bottom, _ in lines) and len(lines) == bench.ROWS
        top, bottom, _ = lines[0]
        rows = drawn[round(top * drawn.shape[0]) : round(bottom * drawn.shape[0])]
        assert rows.std() > 10, "there is ink on a line"
    assert {look.name for look in bench.TUNED}.isdisjoint(look.name for look in bench.HELD)


def test_what_is_misread_counts_and_limits_are_judged_by_it(bench: ModuleType) -> None:
    drawn, lines = bench.page(bench.TUNED[0], 1, 1.0)
    good = bench.measured(lines, drawn, Reads(lines))
    bad = bench.measured(lines, drawn, Reads(lines, wrong=18))
    assert (
        (good["right"], bad["right"]) == (1.0, 0.5)
        and good["words"] == 36
        and good["height"] == pytest.approx(19.5, abs=0.1)
    )
    rows = [{**good, "page": "x", "blown": False}, {**bad, "page": "x", "blown": False}]
    found = bench.figures(rows)
    assert (found["readable"], found["kept"], found["kept_readable"], found["readable_kept"]) == (1, 2, 0.5, 1.0)
    assert bench.figures(rows, height=99)["kept"] == 0 and bench.figures(rows, height=99)["readable_kept"] == 0.0
    assert bench.by_height(rows) == {"18-20": {"pages": 2, "mean": 0.75, "least": 0.5}}
