"""Begins a round from a plan and ends it with a profile and the next plan."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import ValidationError

from cuamaster.curriculum.plan import first_plan, next_plan
from cuamaster.curriculum.profile import profile as profile_rows
from cuamaster.errors import InvalidInput, UnknownName
from cuamaster.records.episode import Episode, RoundPlan
from cuamaster.records.profile import ProfileRow
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.settings import Settings
from cuamaster.stages.exporting import tasks_of
from cuamaster.stages.running import in_turn, run
from cuamaster.stages.searching import kept_tasks
from cuamaster.tables import RoundFolder, Workspace, write_atomic

PLAN = "plan.json"
"""The plan a round follows, in its folder; the next round's plan is written there by the profile of the round before."""


def round_to_run(workspace: Workspace, *, advance: bool) -> int:
    """The newest round that was begun; with `advance` the one after it, once the newest is finished (else that is resumed)."""
    begun = [number for number in workspace.rounds() if workspace.round(number).stages()]
    current = max(begun, default=1)
    return current + 1 if advance and begun and finished(workspace, current) else current


def finished(workspace: Workspace, number: int) -> bool:
    """A round is finished once the next one has its plan."""
    return (workspace.round(number + 1).folder / PLAN).exists()


def _domains(taxonomy: Taxonomy) -> dict[str, str]:
    return {app.id: taxonomy.domain_of(app.id) for app in taxonomy.apps}


def read_plan(folder: RoundFolder, taxonomy: Taxonomy) -> RoundPlan | None:
    """The round's plan if it has one yet; raises InvalidInput naming file and field, UnknownName for an unknown application."""
    plan = parse_plan(folder)
    for number, cell in enumerate(plan.cells if plan else ()):
        try:
            taxonomy.app(cell.app)
        except UnknownName as exc:
            raise UnknownName(
                f"{folder.folder / PLAN}, field cells.{number}.app: {exc.message}", hint=exc.hint
            ) from exc
    return plan


def parse_plan(folder: RoundFolder) -> RoundPlan | None:
    """The plan in the round's folder, its applications unchecked; None if there is none. Raises InvalidInput naming file and field."""
    path = folder.folder / PLAN
    try:
        plan = RoundPlan.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as exc:
        first = exc.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(JSON)"
        raise InvalidInput(
            f"{path}, field {field}: {first['msg']}", hint="correct it, or delete it and run the round before again"
        ) from exc
    if plan.round != folder.number:
        raise InvalidInput(f"{path}, field round: {plan.round}, but it lies in the folder of round {folder.number}")
    return plan


def begin(folder: RoundFolder, taxonomy: Taxonomy, settings: Settings, runnable: Collection[str]) -> RoundPlan:
    """The round's plan; the first round gets an even one over the applications that the guest image has."""
    there = read_plan(folder, taxonomy)
    if there is not None:
        return there
    path = folder.folder / PLAN
    if folder.number != 1:
        raise InvalidInput(
            f"{path}: no plan for round {folder.number}", hint="it is written when the round before ends"
        )
    domains = {app: domain for app, domain in _domains(taxonomy).items() if app in runnable}
    plan = first_plan(
        domains, videos=settings.round_videos, tasks=settings.round_tasks, k=settings.min_primitives, seed=settings.seed
    )
    _write_plan(folder, plan)
    return plan


def profile(
    workspace: Workspace, folder: RoundFolder, plan: RoundPlan, taxonomy: Taxonomy, runnable: Collection[str]
) -> RoundPlan:
    """Success by domain, application, ability, K, N and failure kind -> profile rows and the next round's plan."""
    tasks = tasks_of(folder)
    episodes = folder.stage("collect").kept(Episode)
    rows = profile_rows(tasks, episodes)
    run(
        folder.stage("profile"), [episodes], lambda _: (rows, ()),
        key=lambda all_: "-".join(sorted(episode.id for episode in all_)) or "none", each=in_turn,
        label=lambda all_: f"{len(all_)} episodes",
    )  # fmt: skip
    begun = [workspace.round(number) for number in workspace.rounds() if number <= folder.number]
    following = next_plan(
        plan,
        folder.stage("profile").kept(ProfileRow),
        _domains(taxonomy),
        seed=plan.seed,
        runnable=runnable,
        kept=kept_tasks(begun),
    )
    _write_plan(workspace.round(folder.number + 1), following)
    return following


def _write_plan(folder: RoundFolder, plan: RoundPlan) -> None:
    write_atomic(folder.folder / PLAN, plan.model_dump_json(indent=2).encode())
