"""Progress bars and logs of the command line, on stderr."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.logging import RichHandler
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

T = TypeVar("T")
console = Console(stderr=True)


def configure_logs(*, verbose: bool) -> None:
    """Our own log at INFO (DEBUG when verbose), everybody else's at WARNING."""
    logging.basicConfig(
        level=logging.WARNING, format="%(message)s", datefmt="[%X]", handlers=[RichHandler(console=console, show_path=False)]
    )  # fmt: skip
    logging.getLogger("cuamaster").setLevel(logging.DEBUG if verbose else logging.INFO)
    for noisy in ("RapidOCR", "faster_whisper", "httpx"):
        logging.getLogger(noisy).setLevel(logging.ERROR)


class Bars:
    """Runs the items of stages one after the other, each stage with a bar that names the item in hand."""

    def __init__(self) -> None:
        self._bars = Progress(
            SpinnerColumn(), TextColumn("{task.fields[stage]:<12}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("[dim]{task.description}", markup=True), console=console,
        )  # fmt: skip

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def each(self, name: str, items: Sequence[T], work: Callable[[T], None], label: Callable[[T], str]) -> None:
        """The `Each` of the command line."""
        if not items:
            return
        bar = self._bars.add_task("", total=len(items), stage=name)
        for item in items:
            self._bars.update(bar, description=_short(label(item)))
            work(item)
            self._bars.advance(bar)
        self._bars.update(bar, description="")

    @contextmanager
    def long(self, stage: str) -> Iterator[Callable[[str, float], None]]:
        """A bar for one long thing: call what is yielded with (phrase, fraction done)."""
        bars: list[int] = []

        def report(phrase: str, share: float) -> None:
            if not bars:  # nothing is drawn for what is in the cache already
                bars.append(int(self._bars.add_task("", total=100, stage=stage)))
            self._bars.update(bars[0], description=_short(phrase), completed=round(share * 100))  # type: ignore[arg-type]

        yield report


def _short(text: str, width: int = 64) -> str:
    text = " ".join(text.split()).replace("[", r"\[")
    return text if len(text) <= width else text[: width - 1] + "…"
