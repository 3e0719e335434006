"""Trains cuamaster/seeding/scorer.npz on benchmarks/titles/public.jsonl, half of written.jsonl, and the turns of phrase beside this script.

    python scripts/train_scorer.py           # writes the weights, prints cross-validated figures; then train_second_reader.py

 Each application is in
one half of the written titles only, in all languages (`half` in the file), and titles that name one of the held half are left out. The titles
in real.jsonl are never read here. The result is the same on every run.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from cuamaster.records.mentions import plain as plain_name
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
    """The training half of the written titles, and the public ones; none that names an application of the held half."""
    names_held = held_names(taxonomy)
    found: list[Sample] = []
    for path in (WRITTEN, PUBLIC):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        found += [
            item
            for row, item in zip(rows, labelled(path, taxonomy, names=names), strict=True)
            if row.get("half") != "held" and names_held.search(row["title"]) is None
        ]
    return found


def held_names(taxonomy: Taxonomy) -> re.Pattern[str]:
    """Matches every way to write an application of the held half, ordinary words too: one title too many left out does no harm."""
    rows = map(json.loads, WRITTEN.read_text("utf-8").splitlines())
    held = {row["application"] for row in rows if row["half"] == "held"}
    names = {name.replace("-", " ") for name in held}
    # The file's short name of an application may be a spelling of it only: word is microsoft-word.
    names |= {
        spelling.name
        for app in taxonomy.apps
        if app.id in held or any(plain_name(spelling.name) in names for spelling in app.spellings)
        for spelling in app.spellings
    }
    body = "|".join(
        re.escape(name).replace(r"\ ", r"[\s-]?") for name in sorted(names, key=lambda name: (-len(name), name))
    )
    return re.compile(rf"(?<![^\W\d_⺀-鿿가-힣])(?:{body})(?![^\W\d_⺀-鿿가-힣])", re.IGNORECASE)


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


def calibrate(inputs: Floats, wanted: Floats) -> Floats:
    """Factors of the columns of `inputs` [n, k] and a shift that make log-odds of them (Platt, with his smoothed targets), by Newton's method."""
    positives = wanted.sum()
    target = np.where(wanted > 0, (positives + 1) / (positives + 2), 1 / (len(wanted) - positives + 2))
    inputs = np.column_stack((inputs, np.ones(len(inputs))))
    found = np.zeros(inputs.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-inputs @ found))
        hessian = inputs.T @ (inputs * (p * (1 - p))[:, None]) + 1e-9 * np.eye(len(found))
        found = found - np.linalg.solve(hessian, inputs.T @ (p - target))
    return found


def _arrays(samples: Sequence[Sample]) -> tuple[Sums, Floats, Floats]:
    return (
        sums([item.title for item in samples], [item.about for item in samples]),
        np.array([item.kind == "tutorial" for item in samples], np.float64),
        np.array([item.weight for item in samples]),
    )


def folds(samples: Sequence[Sample]) -> npt.NDArray[np.int64]:
    """The fold [n] of each sample, the same for all of an application."""
    names = sorted({item.group for item in samples}, key=lambda name: hashlib.sha256(name[::-1].encode()).digest())
    of = {name: index % FOLDS for index, name in enumerate(names)}
    return np.array([of[item.group] for item in samples])


def out_of_fold(train: Sequence[Sample], raw: Sequence[Sample], extra: Sequence[Sample]) -> Floats:
    """Margins of the training half, each from a model that saw none of its application. `raw`: the same titles with their names."""
    fold = folds(train)
    margin = np.zeros(len(train))
    for number in range(FOLDS):
        others = np.flatnonzero(fold != number).tolist()
        table = fit(*_arrays([*(train[index] for index in others), *(raw[index] for index in others), *extra]))
        here = np.flatnonzero(fold == number).tolist()
        margin[here] = _arrays([train[index] for index in here])[0].dot(table)
    return margin


def rates(p: Floats, wanted: Floats) -> dict[str, float]:
    """Accuracy, Brier score and F1 at probability .5."""
    hit = p >= 0.5
    return {
        "accuracy": float((hit == wanted).mean()), "brier": float(((p - wanted) ** 2).mean()),
        "f1": float(2 * (hit * wanted).sum() / (hit.sum() + wanted.sum())),
    }  # fmt: skip


def main() -> None:
    """Train, calibrate, write."""
    taxonomy = load()
    train, raw = training(taxonomy), training(taxonomy, names=True)
    extra = cues(taxonomy)
    wanted = _arrays(train)[1]
    margin = out_of_fold(train, raw, extra)
    scale, shift = calibrate(margin[:, None], wanted).tolist()
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
    print(json.dumps({
        "training_titles": len(train), "cues": len(extra), "bytes": OUT.stat().st_size, "calibration": [scale, shift],
        "cross_validated": rates(1 / (1 + np.exp(-(scale * margin + shift))), wanted),
    }, indent=2))  # fmt: skip


if __name__ == "__main__":
    main()
