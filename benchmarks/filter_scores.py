"""Precision, recall and calibration of the title scorer on the held half of the written titles and on the real ones; JSON on stdout.

The real titles were gathered and labelled by title alone, without a model, by somebody who trained none; nothing is ever trained on them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cuamaster.seeding.scorer import load_scorer
from cuamaster.seeding.taxonomy import load
from scripts.train_scorer import ROOT, WRITTEN, Sample, labelled

REAL = ROOT / "benchmarks/titles/real.jsonl"


def figures(samples: Sequence[Sample]) -> dict[str, Any]:
    """Counts and rates at probability .5; `ece` over five equal bins of probability."""
    scorer = load_scorer()
    titles, abouts = [item.title for item in samples], [item.about for item in samples]
    p = scorer.score(titles, abouts)
    truth = np.array([item.kind == "tutorial" for item in samples])
    said = p >= 0.5
    hits = int((said & truth).sum())
    precision, recall = hits / max(1, int(said.sum())), hits / max(1, int(truth.sum()))
    bins = np.minimum((p * 5).astype(int), 4)
    ece = sum(
        abs(float(p[bins == b].mean()) - float(truth[bins == b].mean())) * float((bins == b).mean())
        for b in range(5)
        if (bins == b).any()
    )
    rejected = np.flatnonzero(~said & ~truth)
    kinds = scorer.kind([titles[i] for i in rejected], [abouts[i] for i in rejected]) if len(rejected) else []
    right = sum(kind == samples[i].kind for kind, i in zip(kinds, rejected.tolist(), strict=True))
    return {
        "titles": len(samples), "tutorials": int(truth.sum()), "precision": round(precision, 3), "recall": round(recall, 3),
        "f1": round(2 * hits / max(1, int(said.sum() + truth.sum())), 3), "brier": round(float(((p - truth) ** 2).mean()), 3), "ece": round(ece, 3),
        "reason_right": round(right / max(1, len(rejected)), 3),
    }  # fmt: skip


def report(samples: Sequence[Sample]) -> dict[str, Any]:
    """Figures of all, and by language."""
    languages = sorted({item.language for item in samples})
    return {
        "all": figures(samples),
        **{code: figures([item for item in samples if item.language == code]) for code in languages},
    }


def main() -> None:
    """Both sets."""
    taxonomy = load()
    written = labelled(WRITTEN, taxonomy)
    print(json.dumps({
        "train_half": report([item for item in written if item.half == "train"])["all"],
        "held_half": report([item for item in written if item.half == "held"]),
        "real_titles": report(labelled(REAL, taxonomy)),
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
