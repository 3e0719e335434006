"""How well the rules annotator finds tasks and operations: `python benchmarks/mining.py FOLDER...` prints JSON.

A folder holds tutorial.mp4 and truth.json (see cuamaster/samples/record.py). Each is read twice where it has captions: from those, and
from recognized speech. A task counts as found when its span and a mined one overlap by at least 0.7 of their union. An operation counts as
heard when one of its kind is said between 8 s before and 1 s after the true action; each is used once. Recordings without `tasks` in
truth.json hold one task, from a second before the first action to a second after the last.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper
from cuamaster.adapters.transcribers.sidecar import Sidecar
from cuamaster.records.speech import operations, words_of
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Media, TaskSegment, Video
from cuamaster.seeding.taxonomy import load

MIN_OVERLAP = 0.7
EARLY_SECONDS, LATE_SECONDS = 8.0, 1.0


def overlap(one: tuple[float, float], two: tuple[float, float]) -> float:
    """Intersection over union of two spans."""
    shared = max(0.0, min(one[1], two[1]) - max(one[0], two[0]))
    return shared / (max(one[1], two[1]) - min(one[0], two[0]))


def true_tasks(truth: dict[str, Any]) -> list[tuple[float, float]]:
    """Spans of the recorded tasks."""
    actions = truth["actions"]
    return [(t["t_start"], t["t_end"]) for t in truth.get("tasks", [])] or [
        (actions[0]["t_start"] - 1, actions[-1]["t_end"] + 1)
    ]


def heard(transcript: Transcript, truth: dict[str, Any]) -> tuple[int, int]:
    """(true actions that are said, operations said)."""
    said = operations(words_of(transcript), transcript.language)
    used: set[int] = set()
    for action in truth["actions"]:
        for index, item in enumerate(said):
            near = action["t_start"] - EARLY_SECONDS <= item.t <= action["t_start"] + LATE_SECONDS
            if index not in used and near and item.kind == action["type"]:
                used.add(index)
                break
    return len(used), len(said)


def figures(truth: dict[str, Any], segments: list[TaskSegment], transcript: Transcript) -> dict[str, Any]:
    """Tasks and operations found, against the truth of one recording."""
    tasks, spans = true_tasks(truth), [(item.t_start, item.t_end) for item in segments]
    best = [max((overlap(task, span) for span in spans), default=0.0) for task in tasks]
    right = [max((overlap(task, span) for task in tasks), default=0.0) >= MIN_OVERLAP for span in spans]
    operations_heard, said = heard(transcript, truth)
    quiet = truth.get("non_operations", [])
    return {
        "tasks": len(tasks),
        "mined": len(spans),
        "task_recall": round(sum(value >= MIN_OVERLAP for value in best) / len(tasks), 3),
        "task_precision": round(sum(right) / len(spans), 3) if spans else 0.0,
        "mean_overlap": round(sum(best) / len(best), 3),
        "quiet_seconds_mined": round(sum(max(0.0, min(b, d) - max(a, c)) for a, b in quiet for c, d in spans), 2),
        "operation_recall": round(operations_heard / len(truth["actions"]), 3),
        "operation_precision": round(operations_heard / said, 3) if said else 0.0,
        "instructions": [item.instruction for item in segments],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    arguments = parser.parse_args()
    annotator, whisper, frames = RulesAnnotator(load()), FasterWhisper(), FfmpegFrames()
    rows = []
    for folder in arguments.folders:
        truth = json.loads((folder / "truth.json").read_text())
        path = folder / "tutorial.mp4"
        info = (
            json.loads((folder / "info.json").read_text())
            if (folder / "info.json").exists()
            else {"title": folder.resolve().name}
        )
        captions = tuple(str(file) for file in sorted(folder.glob("tutorial*.vtt")))
        media = Media(video_id="bench", path=str(path), sha256="", captions=captions, info=frames.probe(path))
        video = Video(
            source="local", source_id=folder.resolve().name, url=folder.resolve().as_uri(), title=info["title"], app=info.get("application"),
            duration=media.info.duration,
        )  # fmt: skip
        for transcriber in (Sidecar(), whisper):
            began = time.monotonic()
            transcript = transcriber.transcribe(media, prompt=video.title)
            if transcript is None:
                continue
            segments = annotator.mine(video, transcript, [])
            row = {"recording": folder.resolve().name, "transcript": transcript.origin, "trust": transcript.trust}
            rows.append({**row, **figures(truth, segments, transcript), "seconds": round(time.monotonic() - began, 1)})
    machine = {"cpus": os.cpu_count(), "platform": platform.platform(), "python": platform.python_version()}
    print(
        json.dumps({"machine": machine, "min_overlap": MIN_OVERLAP, "recordings": rows}, indent=1, ensure_ascii=False)
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
