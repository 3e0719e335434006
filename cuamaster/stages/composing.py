"""What propagation does without a desktop: extract primitives from trajectories, gather the library, compose tasks from it."""

from __future__ import annotations

from collections.abc import Iterable

from cuamaster.assets import asset_folder
from cuamaster.ports import GuestImage
from cuamaster.propagation.generation.composer import Guest, PrimitiveComposer
from cuamaster.propagation.generation.extractor import extract as extract_primitives
from cuamaster.propagation.generation.library import Library
from cuamaster.propagation.generation.seed_task import seed_task
from cuamaster.records.episode import RoundPlan
from cuamaster.records.primitive import Primitive
from cuamaster.records.record import content_id
from cuamaster.records.task import Strategy, Task
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.trajectory import Trajectory
from cuamaster.settings import Settings
from cuamaster.stages.running import Each, Result, in_turn, run
from cuamaster.tables import RoundFolder, Workspace


def extract(folder: RoundFolder, image: GuestImage, each: Each) -> None:
    """Trajectory -> primitives with evidence that the image can run, and the seed task that replays it."""
    guest = guest_of(image)
    trajectories = folder.stage("reconstruct").kept(Trajectory)
    run(
        folder.stage("extract"), trajectories, lambda item: extract_primitives(item, guest.capabilities),
        key=lambda item: item.id, each=each, label=lambda item: item.instruction, given=image.digest,
    )  # fmt: skip
    run(
        folder.stage("seed-tasks"), trajectories, lambda item: seed_task(item, guest),
        key=lambda item: item.id, each=each, label=lambda item: item.instruction, given=image.digest,
    )  # fmt: skip


def curated() -> Library:
    """The library under primitives/; raises InvalidInput naming file, line and field."""
    return Library.load(asset_folder("primitives"))


def library_of(workspace: Workspace, number: int) -> Library:
    """The curated library and what rounds up to `number` extracted from videos and proved."""
    library = curated()
    for primitive in learned(workspace, range(1, number + 1)):
        library.add(primitive)
    return library


def learned(workspace: Workspace, numbers: Iterable[int]) -> list[Primitive]:
    """Primitives that these rounds extracted and proved on a desktop."""
    return [item for number in numbers for item in workspace.round(number).stage("prove").kept(Primitive)]


def compose(
    workspace: Workspace,
    folder: RoundFolder,
    plan: RoundPlan,
    image: GuestImage,
    taxonomy: Taxonomy,
    settings: Settings,
) -> None:
    """Library -> composed tasks in the plan's numbers; primitives this round learned go first."""
    library = library_of(workspace, folder.number)
    known = {primitive.id for primitive in curated()}
    fresh = [item.id for item in learned(workspace, [folder.number]) if item.id not in known]
    shares = dict[Strategy, float](settings.strategies.items())
    composer = PrimitiveComposer(settings.min_primitives, settings.max_primitives, shares, mode=settings.mode)
    wanted = sum(cell.tasks for cell in plan.cells)

    def work(_: Library) -> Result:
        tasks: list[Task] = composer.compose(
            library, guest_of(image), count=wanted, seed=settings.seed + folder.number, prefer=fresh,
            apps=[cell.app for cell in plan.cells if cell.tasks],
            names={app.id: app.name for app in taxonomy.apps},
            domains={app.id: taxonomy.domain_of(app.id) for app in taxonomy.apps},
            max_apps=max((cell.n for cell in plan.cells), default=1) + 1,
        )  # fmt: skip
        return tasks, ()

    run(
        folder.stage("compose"), [library], work, key=lambda items: content_id("library", [item.id for item in items]),
        each=in_turn, label=lambda items: f"{len(items)} primitives", given=f"{plan.to_json()} {image.digest}",
    )  # fmt: skip


def guest_of(image: GuestImage) -> Guest:
    """The image as the composer sees it."""
    return Guest(image.name, image.digest, image.capabilities, (image.width, image.height))
