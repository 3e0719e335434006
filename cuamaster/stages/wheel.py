"""One turn of the wheel: plan -> seed -> propagate -> collect -> export -> profile, in the order the README tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuamaster.ports import DesktopPorts, SeedingPorts, VideoSource
from cuamaster.records.episode import RoundPlan
from cuamaster.records.task import Task
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import Query
from cuamaster.seeding.search_plan import LISTINGS, Planned, SearchPlan
from cuamaster.seeding.taxonomy import load
from cuamaster.settings import Settings
from cuamaster.stages import collecting, composing, exporting, fetching, mining, planning, searching, seeding, watching
from cuamaster.stages.running import Each, Patience, in_turn, run
from cuamaster.tables import RoundFolder, Workspace

EVERYTHING = 1_000_000


@dataclass(frozen=True)
class Wheel:
    """What a turn needs besides the ports: the workspace, the settings, the taxonomy, and how items are run."""

    workspace: Workspace
    settings: Settings
    taxonomy: Taxonomy
    each: Each


def open_wheel(settings: Settings, each: Each) -> Wheel:
    """The wheel of a workspace; raises InvalidInput for a broken taxonomy."""
    return Wheel(Workspace(settings.workspace), settings, load(), each)


def turn(wheel: Wheel, number: int, seeding_ports: SeedingPorts, desktop_ports: DesktopPorts) -> None:
    """Run round `number` from wherever it stands to its end; the next round's plan is there afterwards."""
    folder = wheel.workspace.round(number)
    composing.curated()  # a broken library is told now, not after the videos
    plan = begin(wheel, folder, desktop_ports)
    seed(wheel, folder, _searches(wheel, folder, plan, _names(seeding_ports.sources)).queries, seeding_ports)
    propagate(wheel, folder, plan, desktop_ports)
    collect(wheel, folder, desktop_ports)
    exporting.export(wheel.workspace, desktop_ports.store, wheel.settings)
    planning.profile(wheel.workspace, folder, plan, wheel.taxonomy, apps_of(desktop_ports))


def seed(wheel: Wheel, folder: RoundFolder, queries: Sequence[Query], ports: SeedingPorts) -> None:
    """Search -> filter -> fetch -> no re-uploads -> screens only -> transcribe -> score -> mine -> reconstruct."""
    each, patience = wheel.each, Patience(wheel.settings.site_patience_s)
    seeding.discover(folder, queries, ports.sources, each, wheel.settings.sift_workers, patience)
    seeding.screen(folder, wheel.taxonomy, ports.annotator, ports.embedder, wheel.settings, each)
    fetching.fetch(folder, ports, wheel.settings, each, patience)
    fetching.fingerprint(folder, ports, each)
    watching.gate(folder, ports, each)
    watching.transcribe(folder, ports, wheel.taxonomy, each)
    watching.score(folder, ports, each)
    mining.mine(folder, ports, each)
    mining.reconstruct(folder, ports, wheel.settings, each)
    searching.remember(wheel.workspace, folder.number, queries, ports.sources)


def everything(sources: Sequence[VideoSource]) -> list[Query]:
    """Queries that ask each provider for all it has: what `cuamaster seed PATH` runs."""
    return [_all_of(name) for name in _names(sources)]


def wanted(wheel: Wheel, folder: RoundFolder, sources: Sequence[VideoSource]) -> list[Query]:
    """What the round looks for, as `searches` plans it."""
    return searches(wheel, folder, _names(sources)).queries


def searches(wheel: Wheel, folder: RoundFolder, providers: Sequence[str], *, everything: bool = False) -> SearchPlan:
    """What the round's plan asks for. Without a plan: everything that listings have, and of sites that can be searched, videos
    of the whole taxonomy. `everything` asks all providers for all they have."""
    if everything:
        return SearchPlan(tuple(Planned(_all_of(name), 0.0, 0) for name in providers))
    plan = planning.read_plan(folder, wheel.taxonomy)
    if plan is not None:
        return _searches(wheel, folder, plan, providers)
    every = tuple(Planned(_all_of(name), 0.0, 0) for name in providers if name in LISTINGS)
    sites = [name for name in providers if name not in LISTINGS]
    if not sites:
        return SearchPlan(every)
    plan = searching.open_plan(wheel.workspace, folder.number, wheel.taxonomy, wheel.settings)
    found = _searches(wheel, folder, plan, sites)
    return SearchPlan((*every, *found.searches), found.waiting)


def _searches(wheel: Wheel, folder: RoundFolder, plan: RoundPlan, names: Sequence[str]) -> SearchPlan:
    return searching.planned(wheel.workspace, folder.number, plan, wheel.taxonomy, wheel.settings, names)


def _all_of(provider: str) -> Query:
    return Query(text="", app="", provider=provider, limit=EVERYTHING)


def _names(sources: Sequence[VideoSource]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source.name for source in sources))


def propagate(wheel: Wheel, folder: RoundFolder, plan: RoundPlan, ports: DesktopPorts) -> None:
    """Extract -> prove on a desktop -> compose -> certify on a desktop."""
    composing.extract(folder, ports.image, wheel.each)
    collecting.prove(folder, composing.library_of(wheel.workspace, folder.number - 1), ports, wheel.each)
    composing.compose(wheel.workspace, folder, plan, ports.image, wheel.taxonomy, wheel.settings)
    collecting.certify(folder, exporting.made_in(folder), ports, wheel.settings, wheel.each)


def collect(wheel: Wheel, folder: RoundFolder, ports: DesktopPorts, tasks: Sequence[Task] | None = None) -> None:
    """Seed tasks and released composed tasks (or these `tasks`) -> episodes."""
    chosen = tasks_to_collect(folder) if tasks is None else tasks
    foreign = {task.id for task in chosen} - {task.id for task in exporting.made_in(folder)}
    run(
        folder.stage(exporting.GIVEN), [task for task in chosen if task.id in foreign], lambda task: ([task], ()),
        key=lambda task: task.id, each=in_turn, label=lambda task: task.instruction, accumulate=True,
    )  # fmt: skip
    collecting.collect(folder, chosen, ports, wheel.settings, wheel.each)


def tasks_to_collect(folder: RoundFolder) -> list[Task]:
    """The round's seed tasks and composed tasks that a certificate released."""
    return collecting.released(folder, exporting.made_in(folder))


def begin(wheel: Wheel, folder: RoundFolder, ports: DesktopPorts) -> RoundPlan:
    """The plan of a round, over the applications of the guest image."""
    return planning.begin(folder, wheel.taxonomy, wheel.settings, apps_of(ports))


def apps_of(ports: DesktopPorts) -> set[str]:
    """Applications that the guest image has, from its capabilities `app:<id>`."""
    return {name.removeprefix("app:") for name in ports.image.capabilities if name.startswith("app:")}
