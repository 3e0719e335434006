"""The report is one well-formed page that needs nothing else, and says what the data says; the card is read by the hub's own library."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
from defusedxml import ElementTree
from huggingface_hub import DatasetCard

from cuamaster.adapters.embedders.hashed import HashedEmbedder
from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.exports.card import write_card
from cuamaster.exports.columns import SFT, schema
from cuamaster.exports.datafiles import identity
from cuamaster.exports.manifest import Release
from cuamaster.exports.preflight import Rules, problems
from cuamaster.exports.preflight.findings import collect, write_findings
from cuamaster.exports.report.diversity import diversity
from cuamaster.exports.report.page import write_report
from cuamaster.exports.report.plots import bars, heatmap, histogram
from cuamaster.exports.rl import write_rl
from cuamaster.exports.samples import RoundData
from cuamaster.exports.sft import write_sft
from cuamaster.exports.survey import SAMPLE, survey
from cuamaster.exports.writer import write_rows

from .conftest import World

EMBEDDER = HashedEmbedder()
NASTY = '<script>alert("1")</script> & </title> </svg>'


@pytest.fixture
def exported(make_round: Callable[[], RoundData], world: World, tmp_path: Path) -> Path:
    data, folder = make_round(), tmp_path / "exports"
    write_sft([data], world.store, folder)
    write_rl([data], folder)
    return folder


@pytest.mark.parametrize("profile", ["trl", "ms-swift", "openai-jsonl", "agentnet"])
def test_steps_and_actions_are_counted_in_a_trainer_s_rows_too(
    dataset: Callable[..., tuple[Path, Release]], profile: str
) -> None:
    folder, made = dataset(profile)
    (config,) = survey(folder).configs.values()
    assert sum(length * rows for length, rows in config.lengths.items()) == config.steps > 0
    assert sum(config.lengths.values()) == made.splits["train"] and config.actions["finish"] == made.splits["train"]
    page = write_report(folder, embedder=EMBEDDER).read_text(encoding="utf-8")
    assert "rollbacks" not in page  # nothing tells of them: that is not none


class Page(HTMLParser):
    """Checks nesting; keeps the text and the addresses that a browser would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.said = ""
        self.fetched: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "data")]
        if (
            tag not in ("meta", "rect", "line", "circle", "link", "img")
            or self.get_starttag_text().endswith("/>") is False
        ):  # type: ignore[union-attr]
            self.open += [] if tag in ("meta", "link", "img") else [tag]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


def test_the_page_stands_alone_and_tells_the_numbers(exported: Path) -> None:
    rows = pq.read_table(exported / "sft.parquet").to_pylist()
    rows[0]["license"] = "CC-BY-NC-4.0"
    write_rows(exported / "sft.parquet", schema(SFT), rows)
    found = collect(
        problems(exported, Rules()), Rules(), dataset=identity(exported), now=datetime(2026, 1, 1, tzinfo=UTC)
    )
    write_findings(exported, found)
    text = write_report(exported, embedder=EMBEDDER).read_text()
    page = Page(text)
    assert page.fetched == [] and "url(" not in text and "script" not in page.tags
    assert all(
        word in page.said
        for word in ("7rows", "mouse.click", "2 × 2", "CC-BY-NC-4.0 is not allowed", "mousepad", "Map of instructions")
    )
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(svg)
    assert "prefers-color-scheme: dark" in text


def test_what_the_data_says_is_never_markup(exported: Path, tmp_path: Path) -> None:
    rows = pq.read_table(exported / "sft.parquet").to_pylist()
    for row in rows:
        row.update(instruction=NASTY, apps=[NASTY], domain=NASTY, license=NASTY, K=1, N=1)
    write_rows(exported / "sft.parquet", schema(SFT), rows)
    (tmp_path / "a<b>.jsonl").write_text(json.dumps(NASTY) + "\n")
    text = write_report(exported, embedder=EMBEDDER, beside=[tmp_path / "a<b>.jsonl"]).read_text()
    assert "<script" not in text and NASTY in Page(text).said
    card = write_card(exported).read_text()
    assert card.count("\n---\n") == 1 and DatasetCard(card).data.to_dict()["configs"]


def test_nothing_to_show(tmp_path: Path) -> None:
    page = Page(write_report(tmp_path, embedder=EMBEDDER).read_text())
    assert "0rows" in page.said and "too few instructions" in page.said and "have not been checked" in page.said


def test_the_map_is_the_same_each_time_and_tells_datasets_apart(tmp_path: Path) -> None:
    own = [("sft", f"Save the file as {name}.txt") for name in ("a", "b", "c", "d", "e", "f", "f")]
    others = {"bench": ["Save the file as a.txt", "Book a flight to Paris"], "far": ["Turn the volume up"]}
    first, second = (diversity(own, others, EMBEDDER) for _ in range(2))
    assert first == second and first is not None
    assert [name for name, _ in first.series] == ["sft", "bench", "far"] and len(first.points) == 9
    assert first.coverage == {"bench": 0.5, "far": 0.0} and 0.5 < first.nearest < 1
    assert diversity(own[:3], {}, EMBEDDER) is None
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InvalidInput, match="no instruction"):
        write_report(tmp_path, embedder=EMBEDDER, beside=[tmp_path / "empty.jsonl"])


def test_plots_of_extremes() -> None:
    assert "1,234" in bars({"one": 1234}, label="x") and "30 others" in bars({str(n): 1 for n in range(45)}, label="x")
    long = histogram({5: 900, 6: 90, 40_000: 1}, label="x", axis="steps")
    assert "7 or more steps: 1" in long and long.count("<rect") == 3
    assert "39001-40000" not in long and histogram({40_000: 1}, label="x", axis="steps").count("<rect") == 1
    assert "office, 2 × 1: 12,345 rows" in heatmap(
        {("office", "2 × 1"): 12_345}, label="x", rows=["office"], columns=["2 × 1"]
    )


def test_the_survey_counts_all_and_samples_evenly(tmp_path: Path) -> None:
    rows = ({"id": str(n), "instruction": f"Open file {n}", "K": 2, "N": 1, "domain": "web"} for n in range(3 * SAMPLE))
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = survey(tmp_path)
    assert found.rows == 3 * SAMPLE and found.configs["all"].cells == {("web", 2, 1): 3 * SAMPLE}
    places = [int(text.rsplit(" ", 1)[1]) for _, text in found.sample]
    assert len(places) == SAMPLE and abs(sum(places) / SAMPLE - 1.5 * SAMPLE) < 0.1 * SAMPLE
    assert survey(tmp_path).sample == found.sample


def test_the_card_is_read_by_the_hub_and_by_datasets(exported: Path, tmp_path: Path) -> None:
    data = DatasetCard.load(write_card(exported)).data
    assert (data.license, data.size_categories, data.language) == ("unknown", ["n<1K"], ["en"])
    assert [config["config_name"] for config in data.to_dict()["configs"]] == ["rl", "sft", "unproven"]
    rows = pq.read_table(exported / "sft.parquet").to_pylist()
    folder = tmp_path / "sharded"
    for place in ("train/r001-00000", "train/r002-00000", "test/r001-00000"):
        write_rows(folder / f"{place}.parquet", schema(SFT), [{**row, "license": "CC-BY-4.0"} for row in rows])
    card = DatasetCard.load(write_card(folder))
    assert card.data.license == "cc-by-4.0" and "path: train/*.parquet" in card.content
    loaded = datasets.load_dataset(str(folder), "default", cache_dir=str(tmp_path / "hf"))
    assert {split: part.num_rows for split, part in loaded.items()} == {"train": 2 * len(rows), "test": len(rows)}
    assert loaded["test"][0]["images"][0].size == (64, 40)


def test_a_row_that_cannot_be_counted_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": "bad", "steps_json": "{"}\n')
    with pytest.raises(IntegrityError, match="bad: cannot be counted"):
        write_card(tmp_path)
