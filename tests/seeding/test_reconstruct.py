"""Reconstruction on drawn screens: said and seen, seen only, said only, and nothing out of talk."""

from __future__ import annotations

from pathlib import Path

import pytest
from screens import SIZE, Film, center, kinds, spoken

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.frames.stills import StillFrames
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import Action, Trajectory
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Media, TaskSegment, Video
from cuamaster.seeding.reconstruct import reconstruct

WINDOW = {"Untitled 1 - Editor": (300, 10), "File": (20, 40), "Edit": (70, 40), "Help": (120, 40)}


def _rebuild(
    film: Film, transcript: Transcript, folder: Path, *, t_end: float | None = None
) -> tuple[list[Trajectory], tuple[Dropped, ...]]:
    path = folder / "film"
    frames = StillFrames({path: film.pictures})
    media = Media(video_id="v", path=str(path), sha256="", info=frames.probe(path))
    video = Video(
        source="local",
        source_id="film",
        url="file:///home/me/clips/film.mp4",
        title="Editor",
        duration=film.t,
        app="editor",
    )
    segment = TaskSegment(
        video_id=video.id,
        index=0,
        t_start=0.5,
        t_end=t_end or film.t,
        instruction="Do it",
        app="editor",
        annotator="rules",
    )
    return reconstruct(
        video, media, transcript, segment, frames=frames, reader=KnownReader(film.text_of), annotator=RulesAnnotator(),
        store=LocalStore(folder / "blobs"), window_s=4.0,
    )  # fmt: skip


def _actions(trajectories: list[Trajectory]) -> list[Action]:
    return [action for trajectory in trajectories for step in trajectory.steps for action in step.actions]


def _saved() -> tuple[Film, Transcript]:
    """Type a line, Save As, a name, Save: as an editor shows it."""
    film = Film(dict(WINDOW), pointer=(400, 300))
    film.show(2.0)
    film.type("buy two lemons", (30, 100))  # 2.0 - 3.4
    film.show(1.2)
    film.move(*center(film, "File"))  # until 5.1
    film.show(0.3)
    film.click()
    film.labels |= {"New": (30, 70), "Save As...": (30, 130), "Quit": (30, 160)}
    film.show(1.0)
    film.move(*center(film, "Save As..."))
    film.show(0.3)
    film.click()
    for label in ("New", "Save As...", "Quit"):
        film.labels.pop(label)
    film.labels |= {"Name:": (200, 200), "Save": (500, 300), "Cancel": (400, 300)}
    film.show(1.5)
    film.type("list.txt", (260, 200))
    film.show(1.0)
    film.move(*center(film, "Save"))
    film.show(0.3)
    film.click()
    film.labels = {
        "~/list.txt - Editor": (305, 10),
        **{k: v for k, v in WINDOW.items() if "Untitled" not in k},
        "buy two lemons": (30, 100),
    }
    film.show(2.5)
    transcript = spoken(
        (0.8, 2.4, "Type buy two lemons."),
        (3.6, 6.4, "Open the File menu and choose Save As."),
        (7.5, 10.2, "Type the name list.txt and click Save."),
    )
    return film, transcript


def test_a_narrated_task_comes_back_with_times_places_texts_and_conditions(tmp_path: Path) -> None:
    film, transcript = _saved()
    kept, dropped = _rebuild(film, transcript, tmp_path)
    (trajectory,), actions = kept, _actions(kept)
    assert dropped == ()
    assert kinds(actions) == ["keyboard.type", "mouse.click", "mouse.click", "keyboard.type", "mouse.click"]
    assert [a.action.args["text"] for a in actions if a.action.type == "keyboard.type"] == [
        "buy two lemons",
        "list.txt",
    ]
    assert [a.target.text for a in actions if a.action.type == "mouse.click" and a.target] == [
        "File",
        "Save As",
        "Save",
    ]
    assert [a.t_start for a in actions] == pytest.approx(film.done, abs=0.15)
    x, y = center(film, "File")
    assert actions[1].action.args["x"] * SIZE[0] / 1000 == pytest.approx(x, abs=4)
    assert actions[1].action.args["y"] * SIZE[1] / 1000 == pytest.approx(y, abs=4)
    assert all("narration" in action.evidence for action in actions)
    assert [step.observation.active_window for step in trajectory.steps][:2] == ["Untitled 1 - Editor"] * 2
    assert trajectory.final.active_window == "~/list.txt - Editor"
    assert trajectory.lineage.video_url == "file:clips/film.mp4"  # no local path leaves this machine
    assert trajectory.verifier is not None
    wanted = {("file.exists", "~/list.txt"), ("file.text", "~/list.txt")}
    assert {(c.kind, c.path) for c in trajectory.verifier.of} == wanted  # type: ignore[union-attr]
    assert any(c.kind == "window.title" and c.title == "Untitled" for c in trajectory.start_state)
    store = LocalStore(tmp_path / "blobs")
    assert all(store.has(step.observation.screenshot) for step in trajectory.steps)


def test_talk_without_operations_gives_nothing_but_a_reason(tmp_path: Path) -> None:
    film = Film(dict(WINDOW))
    film.show(1.0)
    film.move(400, 200)  # people wave the pointer about while they talk
    film.show(2.0)
    film.move(100, 400)
    film.show(2.0)
    kept, dropped = _rebuild(
        film, spoken((0.5, 4.0, "Welcome to this channel, I am so glad to see you again.")), tmp_path
    )
    assert kept == []
    assert [d.reason for d in dropped] == ["no-actions"]


def test_a_clear_click_nobody_speaks_of_is_added_with_less_confidence(tmp_path: Path) -> None:
    film = Film({**WINDOW, "OK": (500, 300), "A message": (420, 250)})
    film.show(1.0)
    film.move(*center(film, "OK"))
    film.show(0.4)
    film.labels = dict(WINDOW)
    film.show(1.5)
    film.move(*center(film, "File"))
    film.show(0.3)
    film.labels |= {"New": (30, 70), "Quit": (30, 100)}
    film.show(2.0)
    kept, _ = _rebuild(film, spoken((2.6, 4.0, "Open the File menu.")), tmp_path)
    actions = _actions(kept)
    assert [a.target.text for a in actions if a.target] == ["OK", "File"]
    assert actions[0].confidence <= 0.55 < actions[1].confidence
    assert "not said" in actions[0].evidence


def test_a_spoken_key_without_visible_effect_is_kept_and_a_spoken_click_without_one_is_not(tmp_path: Path) -> None:
    film = Film(dict(WINDOW))
    film.show(8.0)
    kept, _ = _rebuild(
        film, spoken((1.0, 3.0, "Press control C to copy it."), (4.0, 6.0, "Click the File menu.")), tmp_path
    )
    actions = _actions(kept)
    assert kinds(actions) == ["keyboard.press"]
    assert list(actions[0].action.args["keys"]) == ["ctrl", "c"] and actions[0].confidence < 0.5


def test_buttons_keep_their_kind(tmp_path: Path) -> None:
    film = Film({**WINDOW, "reports": (300, 200), "photos": (450, 200)})
    film.show(1.5)
    film.move(*center(film, "reports"))
    film.show(0.4)
    film.labels |= {"Rename...": (340, 230), "Delete": (340, 260)}
    film.show(1.5)
    film.labels.pop("Rename..."), film.labels.pop("Delete")
    film.move(*center(film, "photos"))
    film.show(0.4)
    film.labels = {"photos - Editor": (320, 10), **{k: v for k, v in WINDOW.items() if "Untitled" not in k}}
    film.show(2.0)
    said = spoken(
        (0.8, 2.2, "Right click the folder reports."), (3.6, 5.0, "Double click the folder photos to open it.")
    )
    first, second = _actions(_rebuild(film, said, tmp_path)[0])
    assert first.action.args["button"] == "right" and first.target is not None and first.target.text == "reports"
    assert second.action.args["count"] == 2 and second.target is not None and second.target.text == "photos"


def test_drag_and_scroll(tmp_path: Path) -> None:
    film = Film(
        {**WINDOW, "a": (200, 150), "b": (400, 150), "row 1": (30, 300), "row 2": (30, 330)}, pointer=(600, 400)
    )
    film.show(1.5)
    film.move(200, 170)
    film.show(0.4)
    for x in range(220, 420, 40):  # a selection grows along the way
        film.pointer = (x, 170)
        film.labels["#" * ((x - 180) // 10)] = (195, 152)
        film.show(0.1)
    film.show(2.0)
    film.move(100, 310)
    film.show(0.4)
    for top in (3, 5, 7):
        film.labels = {k: v for k, v in film.labels.items() if not k.startswith("row")} | {
            f"row {top}": (30, 300),
            f"row {top + 1}": (30, 330),
        }
        film.show(0.2)
    film.show(1.5)
    said = spoken((0.8, 2.4, "Drag from a to b."), (4.4, 5.8, "Scroll down the list."))
    drag, scroll = _actions(_rebuild(film, said, tmp_path)[0])
    assert drag.action.type == "mouse.drag"
    (x0, _), (x1, _) = drag.action.args["path"]
    assert (x0 * SIZE[0] / 1000, x1 * SIZE[0] / 1000) == pytest.approx((200, 380), abs=6)
    assert scroll.action.type == "mouse.scroll" and scroll.action.args["dy"] > 0
