"""Keeps benchmarks out of training data: instructions that equal, overlap or mean what a benchmark asks.

Any JSONL of instructions will do: one string a line, or objects with the instruction under one of the usual names. Overlap is the
share of a benchmark instruction's word n-grams that a row holds, so that a benchmark task inside a longer one is found too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuamaster.errors import InvalidInput
from cuamaster.exports.preflight.texts import instruction_of, words_of
from cuamaster.ports import Embedder

_LONGEST = 4000
"""Characters of an instruction that are compared; benchmarks ask in far fewer."""
_LEAST_GRAMS = 3
"""Shared grams below which an overlap is chance."""


def read_instructions(path: Path) -> Iterator[str]:
    """Instructions of a JSONL file, one at a time; raises InvalidInput naming the line."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    text = _instruction(line, f"{path}, line {number}")
                    if text.strip():
                        yield text.encode("utf-8", "replace").decode()  # JSON can hold half a surrogate pair
    except OSError as exc:
        raise InvalidInput(f"{path}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path}: not UTF-8 text: {exc}") from exc


def _instruction(line: str, where: str) -> str:
    try:
        value: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as exc:
        raise InvalidInput(f"{where}: not JSON: {exc}", hint="one JSON string or object a line") from exc
    if isinstance(value, str):
        return value
    text = instruction_of(value) if isinstance(value, dict) else ""
    if not text:
        raise InvalidInput(f"{where}: holds no instruction", hint="a string, or an object with the key instruction")
    return text


class Benchmarks:
    """Instructions to keep out, indexed by their words and, if an embedder is given, by their meaning."""

    def __init__(
        self,
        paths: Iterable[Path],
        *,
        ngram: int = 4,
        overlap: float = 0.5,
        similarity: float = 0.85,
        embedder: Embedder | None = None,
    ) -> None:
        self._ngram, self._overlap, self._similarity, self._embedder = ngram, overlap, similarity, embedder
        self._names: list[str] = []
        self._exact: dict[tuple[str, ...], int] = {}
        self._grams: dict[tuple[str, ...], list[int]] = {}
        self._sizes: list[int] = []
        texts: list[str] = []
        for path in paths:
            for text in read_instructions(path):
                words = words_of(text[:_LONGEST])
                grams = self._grams_of(words)
                self._exact.setdefault(tuple(words), len(texts))
                for gram in grams:
                    self._grams.setdefault(gram, []).append(len(texts))
                self._sizes.append(len(grams))
                self._names.append(f"{path.name}: {text[:80]!r}")
                texts.append(text[:_LONGEST])
        self._vectors = embedder.embed(texts) if embedder is not None and texts else None

    def __len__(self) -> int:
        return len(self._names)

    def overlap(self, text: str) -> str:
        """Which benchmark instruction a text equals or overlaps, in words; '' if none."""
        words = words_of(text[:_LONGEST])
        if not words:
            return ""
        same = self._exact.get(tuple(words))
        if same is not None:
            return f"equals {self._names[same]}"
        shared = Counter(index for gram in self._grams_of(words) for index in self._grams.get(gram, ()))
        close = [
            (count / self._sizes[index], index)
            for index, count in shared.items()
            if count >= min(_LEAST_GRAMS, self._sizes[index]) and count >= self._overlap * self._sizes[index]
        ]
        if not close:
            return ""
        share, index = max(close, key=lambda item: (item[0], -item[1]))
        return f"holds {share:.0%} of the {self._ngram}-grams of {self._names[index]}"

    def meanings(self, texts: Sequence[str]) -> list[str]:
        """For each text the benchmark instruction that means nearly the same, in words; '' if none or without an embedder."""
        if self._vectors is None or self._embedder is None or not texts:
            return ["" for _ in texts]
        close = self._embedder.embed([text[:_LONGEST] for text in texts]) @ self._vectors.T
        best = close.argmax(axis=1)
        return [
            f"cosine {close[row, index]:.2f} to {self._names[index]}" if close[row, index] >= self._similarity else ""
            for row, index in enumerate(np.asarray(best).tolist())
        ]

    def _grams_of(self, words: Sequence[str]) -> set[tuple[str, ...]]:
        """Word n-grams; a text of fewer words is one gram."""
        if len(words) <= self._ngram:
            return {tuple(words)} if words else set()
        return {tuple(words[i : i + self._ngram]) for i in range(len(words) - self._ngram + 1)}
