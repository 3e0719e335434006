"""Trains cuamaster/seeding/second_reader.npz on the titles that scripts/train_scorer.py trains on, and on what the scorer says of them.

    python scripts/train_second_reader.py    # after train_scorer.py; writes the weights, prints cross-validated figures; some minutes

The vectors are those of the embedded multilingual model. The result is the same on every run on the same kind of processor.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cuamaster.adapters.embedders.e5 import E5Embedder
from cuamaster.ports import Vectors
from cuamaster.seeding.scorer import KINDS, Floats
from cuamaster.seeding.second_reader import centred, kernel, text_of
from cuamaster.seeding.taxonomy import load
from scripts.train_scorer import FOLDS, ROOT, Sample, calibrate, cues, folds, out_of_fold, rates, training

OUT = ROOT / "cuamaster/seeding/second_reader.npz"
RIDGE = 0.3
"""Chosen, with WIDTH of the reader, by cross-validation on the training half."""


def vectors_of(samples: Sequence[Sample]) -> Vectors:
    """Vectors [n, dimensions] of titles whose names are replaced."""
    return E5Embedder().embed([text_of(item.title, item.about) for item in samples])


def votes_of(rows: Floats, wanted: Floats) -> Floats:
    """Weights [n, k] of kernel ridge regression of `wanted` [n, k] on rows of length 1."""
    return np.asarray(np.linalg.solve(kernel(rows, rows) + RIDGE * np.eye(len(rows)), wanted), np.float64)


def main() -> None:
    """Train, calibrate, write."""
    taxonomy = load()
    train, raw = training(taxonomy), training(taxonomy, names=True)
    kinds = ("tutorial", *KINDS)
    wanted = np.array([[1.0 if item.kind == kind else -1.0 for kind in kinds] for item in train])
    vectors = vectors_of(train)
    mean = vectors.astype(np.float64).mean(axis=0)
    rows = centred(vectors, mean)
    known = np.round(rows * (127 / np.abs(rows).max())).astype(np.int8)
    rows = centred(known, np.zeros(1))  # as they are read again
    fold, sums = folds(train), np.zeros_like(wanted)
    for number in range(FOLDS):
        here, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        sums[here] = kernel(rows[here], rows[others]) @ votes_of(rows[others], wanted[others])
    tutorial = (wanted[:, 0] > 0).astype(np.float64)
    margins = out_of_fold(train, raw, cues(taxonomy))[:, None]
    scale, shift = calibrate(margins, tutorial)
    inputs = np.column_stack((sums[:, 0], scale * margins[:, 0] + shift))
    # Public titles were in view of whoever wrote the turns of phrase: on them the scorer is better than on titles to come.
    written = np.array([item.half == "train" for item in train])
    calibration = calibrate(inputs[written], tutorial[written])
    np.savez_compressed(
        OUT,
        known=known,
        mean=mean.astype(np.float32),
        votes=votes_of(rows, wanted).astype(np.float32),
        calibration=calibration,
    )
    p = _sigmoid(inputs @ calibration[:-1] + calibration[-1])
    none = wanted[:, 0] < 0
    print(json.dumps({
        "training_titles": len(train), "bytes": OUT.stat().st_size, "calibration": calibration.tolist(),
        "cross_validated": {"written": rates(p[written], tutorial[written]), "public": rates(p[~written], tutorial[~written])},
        "scorer_alone": {"written": rates(_sigmoid(inputs[written, 1]), tutorial[written]), "public": rates(_sigmoid(inputs[~written, 1]), tutorial[~written])},
        "kind_right": float((sums[none, 1:].argmax(axis=1) == wanted[none, 1:].argmax(axis=1)).mean()),
    }, indent=2))  # fmt: skip


def _sigmoid(margin: Floats) -> Floats:
    return 1 / (1 + np.exp(-margin))


if __name__ == "__main__":
    main()
