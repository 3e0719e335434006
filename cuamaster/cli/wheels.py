"""The opened wheel of a workspace, and the table of one of its rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cuamaster.cli.output import print_rows
from cuamaster.settings import Settings

if TYPE_CHECKING:
    from cuamaster.progress import Bars
    from cuamaster.stages import Wheel


@contextmanager
def opened(settings: Settings, *, write: bool = True) -> Iterator[tuple[Wheel, Bars]]:
    """The wheel and the progress bars it reports to; `write`: make the workspace if it is not there."""
    from cuamaster.progress import Bars
    from cuamaster.stages import open_wheel

    with Bars() as bars:
        wheel = open_wheel(settings, bars.each)
        if write:
            wheel.workspace.make()
        yield wheel, bars


def show_round(wheel: Wheel, number: int, as_json: bool) -> None:
    """What came out of a round, stage by stage."""
    from cuamaster.stages.summary import summarize

    rows = [row.model_dump() for row in summarize(wheel.workspace, number)]
    print_rows(rows, as_json=as_json, title=f"Round {number} in {wheel.workspace.root}")
