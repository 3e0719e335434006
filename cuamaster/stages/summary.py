"""What a round made, as rows of a table: counts and the reasons behind them, read back from its folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cuamaster.records.episode import Episode
from cuamaster.records.primitive import Primitive
from cuamaster.records.record import Record
from cuamaster.records.task import Certificate
from cuamaster.records.trajectory import Trajectory
from cuamaster.records.video import Judgement, TaskSegment
from cuamaster.stages.collecting import released
from cuamaster.stages.exporting import exported, made_in
from cuamaster.stages.importing import TASKS, TRAJECTORIES, imported_tasks, imported_trajectories
from cuamaster.stages.planning import parse_plan
from cuamaster.stages.resuming import put_off
from cuamaster.tables import RoundFolder, Workspace


class Row(Record):
    """One line of the table."""

    stage: str
    what: str
    count: int
    detail: str = ""


def summarize(workspace: Workspace, number: int) -> list[Row]:
    """The table that ends a round: from videos to files, and where to look next."""
    folder = workspace.round(number)
    tasks = made_in(folder)
    free = {task.id for task in released(folder, tasks)}
    composed = [task for task in tasks if task.strategy != "seed"]
    return [
        *_imports(folder),
        *_videos(workspace, folder),
        _row("reconstruct", "trajectories", folder.stage("reconstruct").kept(Trajectory), _dropped(folder, "reconstruct")),
        Row(stage="reconstruct", what="actions reconstructed", count=_actions(folder)),
        Row(
            stage="extract", what="primitives proven on the desktop", count=len(folder.stage("prove").kept(Primitive)),
            detail=_joined(_names(folder), _dropped(folder, "extract", "prove")),
        ),
        Row(
            stage="compose", what="tasks by (K, N)", count=len(composed),
            detail=_counted(f"K={task.k} N={task.n}" for task in composed),
        ),
        Row(
            stage="certify", what="certificates released", count=len(free),
            detail=_counted(task.strategy for task in tasks if task.id in free),
        ),
        *_certificates(folder),
        *_episodes(folder.stage("collect").kept(Episode)),
        *_files(workspace),
        *_next(workspace, number),
    ]  # fmt: skip


def _imports(folder: RoundFolder) -> list[Row]:
    """Only in rounds into which something was imported."""
    return [
        Row(
            stage="import", what=name.removeprefix("import-"), detail=dropped and f"dropped: {dropped}",
            count=len(imported_tasks(folder) if name == TASKS else imported_trajectories(folder)),
        )
        for name in (TASKS, TRAJECTORIES)
        if name in folder.stages()
        for dropped in (_dropped(folder, name),)
    ]  # fmt: skip


def _videos(workspace: Workspace, folder: RoundFolder) -> list[Row]:
    dropped = _dropped(folder, "discover", "screen", "fetch", "distinct", "gate", "transcribe", "score", "mine")
    kept = folder.stage("score").kept(Judgement)
    late = len(put_off(workspace, folder))
    return [
        Row(stage="search", what="videos found", count=folder.stage("search").count()),
        *(
            [
                Row(
                    stage="fetch",
                    what="videos put off",
                    count=late,
                    detail=f"their sites want to be left alone: cuamaster sites show, then seed --round {folder.number}, or a later round",
                )
            ]
            if late
            else []
        ),
        Row(stage="filter", what="videos kept", count=len(kept), detail=dropped and f"dropped: {dropped}"),
        _row("mine", "tasks mined", folder.stage("mine").kept(TaskSegment), ""),
    ]


def _row(stage: str, what: str, items: list[Record] | list[Trajectory] | list[TaskSegment], dropped: str) -> Row:
    return Row(stage=stage, what=what, count=len(items), detail=dropped and f"dropped: {dropped}")


def _actions(folder: RoundFolder) -> int:
    return sum(len(step.actions) for item in folder.stage("reconstruct").kept(Trajectory) for step in item.steps)


def _names(folder: RoundFolder) -> str:
    return ", ".join(f"{item.app}.{item.ability}" for item in folder.stage("prove").kept(Primitive))


def _certificates(folder: RoundFolder) -> list[Row]:
    refused = [item for item in folder.stage("certify").kept(Certificate) if not item.released]
    reasons = _counted(
        f"{probe.name} {probe.verdict.status}" for item in refused for probe in item.probes if not probe.ok
    )
    dropped = _dropped(folder, "compose", "certify")
    return [Row(stage="certify", what="certificates refused", count=len(refused), detail=_joined(reasons, dropped))]


def _episodes(episodes: list[Episode]) -> list[Row]:
    outcomes = Counter(episode.outcome for episode in episodes)
    odd = {name: count for name, count in outcomes.items() if name not in ("passed", "failed")}
    injected = sum(episode.injected_faults for episode in episodes)
    saved = sum(episode.outcome == "passed" and episode.rollbacks > 0 for episode in episodes)
    return [
        Row(stage="collect", what="episodes passed", count=outcomes["passed"]),
        Row(stage="collect", what="episodes failed", count=outcomes["failed"]),
        Row(stage="collect", what="episodes infra", count=sum(odd.values()), detail=", ".join(f"{n} {c}" for n, c in odd.items())),
        Row(
            stage="collect", what="rollbacks", count=sum(episode.rollbacks for episode in episodes),
            detail=f"{injected} injected faults; {saved} episodes rolled back and passed",
        ),
    ]  # fmt: skip


def _files(workspace: Workspace) -> list[Row]:
    return [
        Row(stage="export", what=f"rows of {file.name}", count=file.rows, detail=f"{file.bytes:,} bytes")
        for file in exported(workspace) or ()
    ]


def _next(workspace: Workspace, number: int) -> list[Row]:
    plan = parse_plan(workspace.round(number + 1))
    return [
        Row(stage="next", what=f"look at {cell.app}", count=cell.tasks, detail=f"{cell.videos} videos, K={cell.k} N={cell.n}; {cell.reason}")
        for cell in (plan.cells if plan else ())
    ]  # fmt: skip


def _dropped(folder: RoundFolder, *stages: str) -> str:
    return _counted(item.reason for name in stages for item in folder.stage(name).dropped())


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(names).items()))


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
