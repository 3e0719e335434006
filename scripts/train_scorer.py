"""Trains cuamaster/seeding/scorer.npz on benchmarks/titles/public.jsonl, half of written.jsonl, and the turns of phrase beside this script.

    python scripts/train_scorer.py           # writes the weights, prints cross-validated figures of the training half

Each application is in one half of the written titles only, in all languages (`half` in the file), and public titles that name one of the held
half are left out. The titles in real.jsonl are never read here. The result is the same on every run.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from cuamaster.records.taxonomy import Taxonomy
from cuamaster.seeding.scorer import BITS, KINDS, NAME, Floats, Sums, sums
from cuamaster.seeding.screen import masked
from cuamaster.seeding.taxonomy import load

ROOT = Path(__file__).resolve().parents[1]
TITLES, CUES = ROOT / "benchmarks/titles", Path(__file__).with_name("title_cues.yaml")
WRITTEN, PUBLIC = TITLES / "written.jsonl", TITLES / "public.jsonl"
OUT = ROOT / "cuamaster/seeding/scorer.npz"
STEPS, RATE = 150, 0.05
DECAY = 1e-6
"""Chosen, with the weights of cues below, by cross-validation on the training half."""
CUE_WEIGHT, WORD_WEIGHT = 1.0, 0.5
FOLDS = 5
SMALL = 0.03
"""Share of the largest weight below which one of a kind is left out: only the largest sum matters there."""


@dataclass(frozen=True)
class Sample:
    """A labelled text; `group` is the application, or the address of a public title (cues have none)."""

    title: str
    about: str
    kind: str
    language: str
    group: str
    weight: float
    half: str = ""


def labelled(path: Path, taxonomy: Taxonomy, *, names: bool = False) -> list[Sample]:
    """Labelled titles, application names replaced; with `names` they stay, as those do that no taxonomy knows."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Sample(*masked(row["title"], row["description"], () if names else taxonomy.mentions(row["title"])), row["kind"], row["language"], row.get("application") or row["url"], 1.0, row.get("half") or row.get("batch", ""))
        for row in rows
    ]  # fmt: skip


def training(taxonomy: Taxonomy, *, names: bool = False) -> list[Sample]:
    """The training half of the written titles, and the public ones that name no application of the held half."""
    held = {
        row["application"] for row in map(json.loads, WRITTEN.read_text("utf-8").splitlines()) if row["half"] == "held"
    }
    rows = list(map(json.loads, PUBLIC.read_text("utf-8").splitlines()))
    apart = {row["url"] for row in rows if held.isdisjoint(found.app for found in taxonomy.mentions(row["title"]))}
    written = [item for item in labelled(WRITTEN, taxonomy, names=names) if item.half == "train"]
    return [*written, *(item for item in labelled(PUBLIC, taxonomy, names=names) if item.group in apart)]


def cues(taxonomy: Taxonomy) -> list[Sample]:
    """Texts put together from the turns of phrase, and from the taxonomy's action and noise words."""
    found: list[Sample] = []
    for language, kinds in yaml.safe_load(CUES.read_text(encoding="utf-8")).items():
        tasks = itertools.cycle(kinds.pop("tasks"))
        for topic in kinds.pop("topics"):
            found += [
                Sample(text, "", "tutorial", language, "", CUE_WEIGHT)
                for text in (f"{NAME} {topic}", f"{topic} | {NAME}")
            ]
        for kind, phrases in kinds.items():
            for phrase in phrases:
                text = phrase.replace("{app}", NAME)
                texts = [text.replace("{task}", next(tasks)) for _ in range(3)] if "{task}" in text else [text]
                if NAME not in text:
                    texts.append(f"{NAME} {text}")
                found += [Sample(item, "", kind, language, "", CUE_WEIGHT) for item in texts]
    for language, words in taxonomy.words.items():
        for action in words.actions:
            text = action.replace("{app}", NAME) if "{app}" in action else f"{NAME} {action}"
            found.append(Sample(text, "", "tutorial", language, "", WORD_WEIGHT))
        for noise, marks in words.noise.items():
            found += [Sample(f"{NAME} {mark}", "", noise, language, "", WORD_WEIGHT) for mark in marks]
    return found


def fit(seen: Sums, wanted: Floats, weight: Floats) -> Floats:
    """Weights of a logistic model: Adam on the whole set, decay towards zero."""
    table, first, second = np.zeros(1 << BITS), np.zeros(1 << BITS), np.zeros(1 << BITS)
    for step in range(1, STEPS + 1):
        gradient = _spread(seen, weight * (1 / (1 + np.exp(-seen.dot(table))) - wanted)) / weight.sum() + DECAY * table
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        table -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return table


def _spread(seen: Sums, slope: Floats) -> Floats:
    """The transpose of `Sums.dot`."""
    found = np.zeros(1 << BITS)
    for group in seen.parts:
        lengths = [np.diff(offsets) for _, offsets in group]
        share = slope / np.sqrt(np.maximum(np.sum(lengths, axis=0), 1))
        for (indices, _), length in zip(group, lengths, strict=True):
            found += np.bincount(indices, np.repeat(share, length), 1 << BITS)
    return found


def calibrate(margin: Floats, wanted: Floats) -> tuple[float, float]:
    """Scale and shift of a margin to a log-odds (Platt, with his smoothed targets), by Newton's method."""
    positives = wanted.sum()
    target = np.where(wanted > 0, (positives + 1) / (positives + 2), 1 / (len(wanted) - positives + 2))
    inputs, found = np.stack((margin, np.ones_like(margin)), axis=1), np.array([1.0, 0.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-inputs @ found))
        hessian = inputs.T @ (inputs * (p * (1 - p))[:, None]) + 1e-9 * np.eye(2)
        found = found - np.linalg.solve(hessian, inputs.T @ (p - target))
    return float(found[0]), float(found[1])


def _arrays(samples: Sequence[Sample]) -> tuple[Sums, Floats, Floats]:
    return (
        sums([item.title for item in samples], [item.about for item in samples]),
        np.array([item.kind == "tutorial" for item in samples], np.float64),
        np.array([item.weight for item in samples]),
    )


def out_of_fold(train: Sequence[Sample], raw: Sequence[Sample], extra: Sequence[Sample]) -> Floats:
    """Margins of the training half, each from a model that saw none of its application. `raw`: the same titles with their names."""
    names = sorted({item.group for item in train}, key=lambda name: hashlib.sha256(name[::-1].encode()).digest())
    fold = {name: index % FOLDS for index, name in enumerate(names)}
    margin = np.zeros(len(train))
    for number in range(FOLDS):
        table = fit(*_arrays([*(item for item in (*train, *raw) if fold[item.group] != number), *extra]))
        here = [index for index, item in enumerate(train) if fold[item.group] == number]
        margin[here] = _arrays([train[index] for index in here])[0].dot(table)
    return margin


def main() -> None:
    """Train, calibrate, write."""
    taxonomy = load()
    train, raw = training(taxonomy), training(taxonomy, names=True)
    extra = cues(taxonomy)
    wanted = _arrays(train)[1]
    margin = out_of_fold(train, raw, extra)
    scale, shift = calibrate(margin, wanted)
    everything = [*train, *raw, *extra]
    table = fit(*_arrays(everything))
    others = [item for item in everything if item.kind != "tutorial"]
    seen, _, weight = _arrays(others)
    kinds, bias = [], []
    for kind in KINDS:
        kinds.append(fit(seen, np.array([item.kind == kind for item in others], np.float64), weight))
        bias.append(0.0)
    kinds = [np.where(np.abs(row) < SMALL * np.abs(row).max(), 0.0, row) for row in kinds]
    unit = np.array([np.abs(table).max() / 127, np.abs(np.stack(kinds)).max() / 127])
    packed: dict[str, Any] = {
        "teaches": np.round(table / unit[0]).astype(np.int8), "kinds": np.round(np.stack(kinds) / unit[1]).astype(np.int8),
        "unit": unit, "bias": np.array(bias), "calibration": np.array([scale, shift]),
    }  # fmt: skip
    np.savez_compressed(OUT, **packed)
    p = 1 / (1 + np.exp(-(scale * margin + shift)))
    hit = p >= 0.5
    print(json.dumps({
        "training_titles": len(train), "cues": len(extra), "bytes": OUT.stat().st_size, "calibration": [scale, shift],
        "cross_validated": {"accuracy": float((hit == wanted).mean()), "brier": float(((p - wanted) ** 2).mean()),
                            "f1": float(2 * (hit * wanted).sum() / (hit.sum() + wanted.sum()))},
    }, indent=2))  # fmt: skip


if __name__ == "__main__":
    main()
