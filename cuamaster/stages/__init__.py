"""The table of contents: one short function per stage, in the order of the wheel.

Every stage reads the stage before and writes its own folder. An item whose part is there is skipped and a closed stage is not
entered again, so the same call resumes after any interruption. `each` says how items are run: a loop with a progress bar in
the CLI, Prefect tasks in flows/.
"""

from cuamaster.seeding.taxonomy import load as load_taxonomy
from cuamaster.stages.composing import curated
from cuamaster.stages.exporting import export
from cuamaster.stages.planning import round_to_run
from cuamaster.stages.running import Each, in_turn
from cuamaster.stages.summary import summarize
from cuamaster.stages.surveying import dry_run, show_taxonomy, survey, totals
from cuamaster.stages.verifying import verify_library
from cuamaster.stages.wheel import (
    Wheel,
    begin,
    collect,
    everything,
    open_wheel,
    propagate,
    searches,
    seed,
    tasks_to_collect,
    turn,
    wanted,
)

__all__ = [
    "Each",
    "Wheel",
    "begin",
    "collect",
    "curated",
    "dry_run",
    "everything",
    "export",
    "in_turn",
    "load_taxonomy",
    "open_wheel",
    "propagate",
    "round_to_run",
    "searches",
    "seed",
    "show_taxonomy",
    "summarize",
    "survey",
    "tasks_to_collect",
    "totals",
    "turn",
    "verify_library",
    "wanted",
]
