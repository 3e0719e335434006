"""From a task span to a trajectory: triggers, alignment, review, and each kept candidate grounded as an action.

Source: CUA-Master, trajectory reconstruction (semantic path, visual path, candidate pairs, review, trajectory verifier).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from cuamaster.ports import Annotator, Candidate, FrameReader, ScreenReader, Store
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import Action, Lineage, Observation, Step, Trajectory
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Media, TaskSegment, Video
from cuamaster.seeding.align import Pair, align
from cuamaster.seeding.footage import FPS, watch
from cuamaster.seeding.instruction_check import told
from cuamaster.seeding.parameters import to_action
from cuamaster.seeding.scene import Scene
from cuamaster.seeding.seed_conditions import derive
from cuamaster.seeding.thoughts import in_words
from cuamaster.seeding.trajectory_verifier import verified
from cuamaster.seeding.triggers import VisualTrigger, semantic_triggers, visual_triggers
from cuamaster.seeding.window_titles import TitleStrip, title_in

_LEAD_IN, _LEAD_OUT = 1.5, 2.0  # seconds of picture before and after the span
_RECOGNIZED = "faster-whisper"
_TYPED_FRAMES = 3  # fewer may be anything that grows
_DRAG_BEGINS = 0.6  # seconds: the button goes down a moment before the pointer moves
_ONE_KEY = 1.0  # seconds: a dialog that closes and what then appears behind it
_SETTLED = 1.5  # seconds after the last action, when its effect is there


def reconstruct(
    video: Video,
    media: Media,
    transcript: Transcript,
    segment: TaskSegment,
    *,
    frames: FrameReader,
    reader: ScreenReader,
    annotator: Annotator,
    store: Store,
    window_s: float,
) -> tuple[list[Trajectory], tuple[Dropped, ...]]:
    """Trajectories of one task span (more than one where it breaks), or the reason there is none.

    Raises MediaError, and what the annotator and the store raise.
    """
    t_end = min(segment.t_end + _LEAD_OUT, media.info.duration)
    footage = watch(frames.sample(Path(media.path), fps=FPS, t_start=max(0.0, segment.t_start - _LEAD_IN), t_end=t_end))
    if not footage.times:
        return [], (_dropped(segment, "no-frames", "nothing could be decoded in the span"),)
    scene = Scene(footage, reader, written=not transcript.origin.startswith(_RECOGNIZED), language=transcript.language)
    actions = recover(scene, transcript, segment, annotator=annotator, window_s=window_s)
    runs = verified(actions)
    if not runs:
        return [], (_dropped(segment, "no-actions", "nothing that is said could be found in the picture"),)
    return [_trajectory(video, segment, run, scene, store, annotator.name) for run in runs], ()


def recover(
    scene: Scene, transcript: Transcript, segment: TaskSegment, *, annotator: Annotator, window_s: float
) -> list[Action]:
    """The actions of a span in time order, before the trajectory verifier."""
    said = semantic_triggers(transcript, segment.t_start, segment.t_end)
    seen = visual_triggers(scene.footage, segment.t_start, segment.t_end)
    aligned = align(said, seen, window=window_s, agreement=scene.agreement)
    strokes = [
        pair.seen for pair in aligned if pair.said is not None and pair.seen is not None and pair.seen.shape == "stroke"
    ]
    pairs = [pair for pair in aligned if _worth_review(pair) and not any(_part_of(stroke, pair) for stroke in strokes)]
    pairs = [
        _with_text(pair, before, after, scene)
        for before, pair, after in zip([None, *pairs], pairs, [*pairs[1:], None], strict=False)
    ]
    candidates = [_candidate(pair, scene) for pair in pairs]
    reviews = annotator.review(candidates, segment) if candidates else []
    found = []
    for pair, review in zip(pairs, reviews, strict=True):
        action = to_action(scene, pair, review) if review.keep else None
        if action is not None:
            found.append(action)
    return sorted(found, key=lambda action: action.t_start)


def _worth_review(pair: Pair) -> bool:
    """A pointer that rests and a flicker nobody mentions are not even asked about."""
    return pair.said is not None or (pair.seen is not None and pair.seen.strong and pair.seen.shape != "stroke")


def _with_text(pair: Pair, before: Pair | None, after: Pair | None, scene: Scene) -> Pair:
    """The pair, with the dictated typing just before it if it may be the unspoken key that ends that text."""
    if pair.said is not None or pair.seen is None or before is None or before.said is None or before.seen is None:
        return pair
    if after is not None and after.said is not None and after.said.kind == "key" and after.t - pair.t <= _ONE_KEY:
        return pair  # that key is spoken of, and what is seen next was taken for it
    ends = before.said.kind == "type" and scene.ends_text(before.seen, pair.seen)
    return replace(pair, ends_text=before.seen) if ends else pair


def _part_of(stroke: VisualTrigger, pair: Pair) -> bool:
    """What is seen while a drag begins or goes on is the drag."""
    return pair.said is None and pair.seen is not None and stroke.t - _DRAG_BEGINS <= pair.seen.t <= stroke.t_end + 0.1


def _candidate(pair: Pair, scene: Scene) -> Candidate:
    said, seen = pair.said, pair.seen
    t = pair.t
    effect = seen.effect if seen is not None else None
    return Candidate(
        t=t,
        t_semantic=said.t if said is not None else None,
        t_visual=seen.t if seen is not None else None,
        clause=said.clause if said is not None else "",
        verb=said.kind if said is not None else _guess(pair),
        before=scene.footage.frame(t - 0.3),
        after=scene.footage.frame((seen.t_end if seen is not None else t) + 0.3),
        changed=None if effect is None else (float(effect.x0), float(effect.y0), float(effect.x1), float(effect.y1)),
        score=_score(pair, scene),
    )


def _guess(pair: Pair) -> str:
    shape = pair.seen.shape if pair.seen is not None else ""
    return {"rest": "click", "typing": "type", "change": "key"}.get(shape, "")


def _score(pair: Pair, scene: Scene) -> float:
    """0-1: how plausible an action this is from the picture alone."""
    seen = pair.seen
    if seen is None or seen.effect is None:
        return 0.0 if seen is None else 0.2
    if seen.shape == "typing":
        return 0.8 if seen.frames >= _TYPED_FRAMES else 0.4
    if seen.shape == "change":
        # A change by itself may be a clock, a message, a film; after dictated text it is likely the key that ends it.
        return 0.65 if pair.ends_text is not None else 0.3
    score = (
        0.4
        + 0.25 * min(1.0, seen.sure)
        + (0.1 if seen.effect.gap(seen.x, seen.y) < 0.1 * scene.footage.width else -0.1)
    )
    return min(1.0, score)


def _trajectory(
    video: Video, segment: TaskSegment, actions: Sequence[Action], scene: Scene, store: Store, annotator: str
) -> Trajectory:
    final_t = min(actions[-1].t_end + _SETTLED, scene.footage.times[-1])
    start, verifier = derive(actions, scene, segment, final_t=final_t)
    observe = partial(_observe, scene, store, scene.title_strip(actions[0].t_start - 0.3))
    steps = [
        Step(observation=observe(action.t_start - 0.15), actions=(action,), thought=in_words(action))
        for action in actions
    ]
    instruction = told(segment.instruction, actions, [step.thought for step in steps])
    return Trajectory(
        origin="video", task_id=segment.id, instruction=instruction, app=segment.app, steps=tuple(steps),
        final=observe(final_t), start_state=start, verifier=verifier, annotator=annotator,
        lineage=Lineage(
            video_id=video.id, video_url=_public(video.url), t_start=segment.t_start, t_end=segment.t_end, segment_id=segment.id, license=video.license
        ),
    )  # fmt: skip


def _public(url: str) -> str:
    """An address that may leave this machine: of a local file only its folder's and its own name."""
    return "file:" + "/".join(url.split("/")[-2:]) if url.startswith("file:") else url


def _observe(scene: Scene, store: Store, strip: TitleStrip | None, t: float) -> Observation:
    footage = scene.footage
    at = min(max(t, footage.times[0]), footage.times[-1])
    return Observation(
        screenshot=store.put(footage.png(at)), width=footage.width, height=footage.height, t=round(at, 3),
        active_window=title_in(scene.reader, footage.frame(at), strip),
    )  # fmt: skip


def _dropped(segment: TaskSegment, reason: str, detail: str) -> Dropped:
    return Dropped(item_id=segment.id, stage="reconstruct", reason=reason, detail=f"{detail}: {segment.instruction}")
