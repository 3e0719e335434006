"""Precision, recall and calibration of the title filter on the held half of the written titles and on the real ones; JSON on stdout.

Beside the filter (the scorer, and the second reader where it is undecided) stands the scorer alone. The real titles were gathered and labelled by
title alone, without a model, by somebody who trained none; nothing is ever trained on them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cuamaster.adapters.embedders.e5 import E5Embedder
from cuamaster.ports import Embedder
from cuamaster.seeding.scorer import Floats, load_scorer
from cuamaster.seeding.screen import READ_AGAIN
from cuamaster.seeding.second_reader import load_second_reader, text_of
from cuamaster.seeding.taxonomy import load
from scripts.train_scorer import ROOT, WRITTEN, Sample, labelled

REAL = ROOT / "benchmarks/titles/real.jsonl"


@dataclass(frozen=True)
class Judged:
    """Samples with what the scorer says of each, what the filter says, and whether it was read twice."""

    samples: Sequence[Sample]
    scorer: tuple[Floats, list[str]]
    filter: tuple[Floats, list[str]]
    twice: npt.NDArray[np.bool_]


def judged(samples: Sequence[Sample], embedder: Embedder) -> Judged:
    """What both say of samples."""
    scorer, titles, abouts = load_scorer(), [item.title for item in samples], [item.about for item in samples]
    p, kinds = scorer.score(titles, abouts), scorer.kind(titles, abouts)
    twice = np.abs(p - 0.5) < READ_AGAIN
    again, others = p.copy(), list(kinds)
    rows = np.flatnonzero(twice)
    vectors = embedder.embed([text_of(titles[row], abouts[row]) for row in rows])
    again[rows], said = load_second_reader().read(vectors, scorer.margin(titles, abouts)[rows])
    for row, kind in zip(rows.tolist(), said, strict=True):
        others[row] = kind
    return Judged(samples, (p, kinds), (again, others), twice)


def figures(samples: Sequence[Sample], said: tuple[Floats, list[str]]) -> dict[str, Any]:
    """Counts and rates at probability .5; `ece` over five equal bins of probability."""
    p, kinds = said
    truth = np.array([item.kind == "tutorial" for item in samples])
    called = p >= 0.5
    hits = int((called & truth).sum())
    precision, recall = hits / max(1, int(called.sum())), hits / max(1, int(truth.sum()))
    bins = np.minimum((p * 5).astype(int), 4)
    ece = sum(
        abs(float(p[bins == b].mean()) - float(truth[bins == b].mean())) * float((bins == b).mean())
        for b in range(5)
        if (bins == b).any()
    )
    rejected = np.flatnonzero(~called & ~truth).tolist()
    right = sum(kinds[index] == samples[index].kind for index in rejected)
    return {
        "titles": len(samples), "tutorials": int(truth.sum()), "precision": round(precision, 3), "recall": round(recall, 3),
        "f1": round(2 * hits / max(1, int(called.sum() + truth.sum())), 3), "brier": round(float(((p - truth) ** 2).mean()), 3), "ece": round(ece, 3),
        "reason_right": round(right / max(1, len(rejected)), 3),
    }  # fmt: skip


def report(found: Judged) -> dict[str, Any]:
    """Figures of all, and by language, with the scorer alone beside them."""
    chosen = {"all": list(range(len(found.samples)))}
    for index, item in enumerate(found.samples):
        chosen.setdefault(item.language, []).append(index)
    return {
        name: {
            **figures([found.samples[row] for row in rows], _rows(found.filter, rows)),
            "read_twice": round(float(found.twice[rows].mean()), 3),
            "scorer_alone": figures([found.samples[row] for row in rows], _rows(found.scorer, rows)),
        }
        for name, rows in sorted(chosen.items())
    }


def _rows(said: tuple[Floats, list[str]], rows: list[int]) -> tuple[Floats, list[str]]:
    return said[0][rows], [said[1][row] for row in rows]


def speed(samples: Sequence[Sample], embedder: Embedder) -> dict[str, float]:
    """Titles a second of CPU time: of the scorer, and of a second reading."""
    titles, abouts = [item.title for item in samples], [item.about for item in samples]
    begin = time.process_time()
    for _ in range(10):
        load_scorer().score(titles, abouts)
    scored = time.process_time()
    embedder.embed([text_of(*text) for text in zip(titles, abouts, strict=True)])
    return {
        "scored_per_s": round(10 * len(samples) / (scored - begin)),
        "read_again_per_s": round(len(samples) / (time.process_time() - scored)),
    }


def main() -> None:
    """Both sets."""
    taxonomy, embedder = load(), E5Embedder()

    def both(path: Path, half: str | None = None) -> Judged:
        return judged([item for item in labelled(path, taxonomy) if half is None or item.half == half], embedder)

    held = both(WRITTEN, "held")
    print(json.dumps({
        "held_half": report(held), "real_titles": report(both(REAL)), "speed": speed(held.samples, embedder),
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
