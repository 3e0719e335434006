"""Record a narrated GUI tutorial and its exact ground truth from a scenario file (`python -m cuamaster.samples.record`).

Needs (Debian names): xvfb openbox tint2 pcmanfm xdotool wmctrl x11-xserver-utils dbus-x11 adwaita-icon-theme
fonts-dejavu-core espeak-ng ffmpeg, and the scenario's own application. Run it as an ordinary user whose home folder is
empty: applications warn the root user inside their window. The product never imports this file.

A scenario's keys beside its steps: size, environment, session, prepare (shell commands in the user's home), command, window, windows
(more of them), captions (`automatic`: without punctuation), language (of the captions' file), voice and words_per_minute (of espeak-ng),
scaled (the size to publish at), frame_rate, chapters_in (chapters | description), info.
Steps that are no operation: say, pause, music, show ... hide (see edit.py), part (what the time until the next part or task is: sponsor,
slide, talk, ...), chapter (a title, or a title and how many seconds `off` the truth it is put).

Truth times are those of the X server's input, on the video's own clock: video zero is the epoch in ffmpeg's "start:" line.
The waits below pace a human demonstration; where something must be ready, the recorder polls with a deadline.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import re
import signal
import subprocess
import time
import wave
from pathlib import Path
from typing import Any

import yaml

from cuamaster.samples import edit

FRAME_RATE = 30
MOUSE_STEP = 0.025  # seconds between two eased mouse positions
STOP_BEFORE_CLICK = 0.25
READY_DEADLINE = 30.0


class Recorder:
    """One desktop session on a virtual X display, and the log of everything that was done to it."""

    def __init__(self, scenario: dict[str, Any], out: Path, display: str, user: str = "") -> None:
        self.scenario, self.out, self.display = scenario, out, display
        self.size: tuple[int, int] = tuple(scenario["size"])
        self.environment = dict(
            os.environ,
            DISPLAY=display,
            NO_AT_BRIDGE="1",
            LANG="C.UTF-8",
            XCURSOR_SIZE="24",
            **scenario.get("environment", {}),
        )
        self.environment.setdefault("GTK_THEME", "Adwaita")
        self.environment.setdefault("XCURSOR_THEME", "Adwaita")
        self.environment.update(prepared_home(user))
        self.user = user
        self.pointer = (self.size[0] * 11 // 20, self.size[1] // 2)
        self.actions: list[dict[str, Any]] = []
        self.narration: list[dict[str, Any]] = []
        self.cursor: list[tuple[float, int, int]] = []
        self.tasks: list[dict[str, Any]] = []
        self.parts: list[dict[str, Any]] = []
        self.shows: list[dict[str, Any]] = []
        self.music: list[dict[str, Any]] = []
        self.chapters: list[dict[str, Any]] = []
        self.frame_rate: int = scenario.get("frame_rate", FRAME_RATE)
        self.processes: list[subprocess.Popen[bytes]] = []

    def run(self, *command: object) -> str:
        return subprocess.run(
            [str(part) for part in command], env=self.environment, check=True, capture_output=True, text=True
        ).stdout

    def as_user(self, *command: str) -> tuple[str, ...]:
        """The command, run by the ordinary user when the recorder itself is root."""
        return ("runuser", "-u", self.user, "--", *command) if self.user else command

    def start(self, *command: str) -> None:
        process = subprocess.Popen(
            command,
            cwd=self.environment.get("HOME"),
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)

    def wait_for(self, command: list[str], pattern: str) -> None:
        deadline = time.monotonic() + READY_DEADLINE
        while time.monotonic() < deadline:
            answer = subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout
            if re.search(pattern, answer, re.MULTILINE):
                return
            time.sleep(0.2)
        raise TimeoutError(f"{command} never answered with {pattern!r} within {READY_DEADLINE:.0f} s")

    def open_desktop(self) -> None:
        width, height = self.size
        self.start("Xvfb", self.display, "-screen", "0", f"{width}x{height}x24", "-noreset")
        self.wait_for(["xdpyinfo"], "dimensions")
        self.run("xset", "r", "off")  # on a busy machine a key is held long enough to repeat
        self.run("xsetroot", "-solid", self.scenario.get("background", "#000000"), "-cursor_name", "left_ptr")
        for command in self.scenario.get("prepare", []):
            self.run(*self.as_user("sh", "-c", command))
        shell = "openbox & " + "".join(
            f"{part} & " for part in self.scenario.get("session", ["tint2", "pcmanfm --desktop"])
        )
        self.start(*self.as_user("dbus-run-session", "--", "sh", "-c", f"{shell}{self.scenario['command']} & wait"))
        for window in [*self.scenario.get("windows", []), self.scenario["window"]]:
            self.place(window)
        self.run("xdotool", "mousemove", *self.pointer)
        time.sleep(1.5)

    def place(self, window: dict[str, Any]) -> None:
        """Wait for a window, put it where it belongs and give it the focus."""
        self.wait_for(["wmctrl", "-l"], window["title"])
        time.sleep(2.0)
        number = next(  # not by title: some change it with their size
            line.split()[0] for line in self.run("wmctrl", "-l").splitlines() if re.search(window["title"], line)
        )
        self.run("wmctrl", "-i", "-r", number, "-e", "0," + ",".join(str(part) for part in window["geometry"]))
        self.run("wmctrl", "-i", "-a", number)

    # -- what a presenter does ------------------------------------------------------------------------------------

    def move(self, x: int, y: int, seconds: float = 0.6) -> None:
        (from_x, from_y), steps, began = self.pointer, max(2, int(seconds / MOUSE_STEP)), time.time()
        for step in range(1, steps + 1):
            ease = (step / steps) ** 2 * (3 - 2 * step / steps)
            at = (round(from_x + (x - from_x) * ease), round(from_y + (y - from_y) * ease))
            self.run("xdotool", "mousemove", *at)
            self.cursor.append((time.time(), *at))
            time.sleep(max(0.0, began + seconds * step / steps - time.time()))
        self.pointer = (x, y)

    def act(self, kind: str, command: list[object], settle: float, **truth: Any) -> None:
        began = time.time()
        self.run("xdotool", *command)
        self.actions.append({"id": len(self.actions), "type": kind, "t_start": began, "t_end": time.time(), **truth})
        time.sleep(settle)

    def click(self, kind: str, step: dict[str, Any], button: int = 1, count: int = 1) -> None:
        x, y = step["at"]
        self.move(x, y)
        time.sleep(STOP_BEFORE_CLICK)
        command: list[object] = ["click", "--repeat", count, "--delay", 80, button]
        self.act(kind, command, step.get("settle", 0.9), target=step["target"], x=x, y=y, button=button)

    def drag(self, step: dict[str, Any]) -> None:
        (x, y), (x2, y2) = step["at"], step["to"]
        self.move(x, y)
        time.sleep(STOP_BEFORE_CLICK)
        began = time.time()
        self.run("xdotool", "mousedown", 1)
        self.move(x2, y2, 0.8)
        self.run("xdotool", "mouseup", 1)
        truth = {"target": step["target"], "x": x, "y": y, "x2": x2, "y2": y2}
        self.actions.append({"id": len(self.actions), "type": "drag", "t_start": began, "t_end": time.time(), **truth})
        time.sleep(step.get("settle", 0.8))

    def say(self, text: str, lead: float) -> None:
        """Start speaking once the sentence before is over, and return when `lead` of this one is spoken."""
        path = self.out / f"say{len(self.narration):02d}.wav"
        self.run(
            "espeak-ng",
            "-v",
            self.scenario.get("voice", "en-us"),
            "-s",
            self.scenario.get("words_per_minute", 160),
            "-w",
            path,
            text,
        )
        with wave.open(str(path)) as sound:
            seconds = sound.getnframes() / sound.getframerate()
        self.wait_for_silence()
        self.narration.append(
            {"id": len(self.narration), "t_start": time.time(), "dur": seconds, "text": text, "wav": path}
        )
        time.sleep(seconds * lead)

    def wait_for_silence(self) -> None:
        """Until a moment after the last sentence."""
        if self.narration:
            last = self.narration[-1]
            time.sleep(max(0.0, last["t_start"] + last["dur"] + 0.35 - time.time()))

    def end_part(self) -> None:
        if self.parts:
            self.parts[-1].setdefault("t_end", time.time())

    def play(self, step: dict[str, Any]) -> None:
        (verb, value), *_ = step.items()
        match verb:
            case "say":
                self.say(value, step.get("lead", 0.55))
            case "task":
                self.end_part()
                told = value if isinstance(value, dict) else {"instruction": value}
                self.tasks.append({"t_start": time.time(), **told})
            case "task_end":
                self.tasks[-1]["t_end"] = time.time()
            case "part":
                self.wait_for_silence()
                self.end_part()
                self.parts.append({"kind": value, "t_start": time.time()})
            case "show":
                self.wait_for_silence()
                self.shows.append({"t_start": time.time(), **value})
            case "hide":
                self.shows[-1]["t_end"] = time.time()
            case "music":
                self.music.append({"t_start": time.time(), "dur": value})
            case "pause":
                time.sleep(value)
            case "chapter":
                told = value if isinstance(value, dict) else {"title": value}
                self.chapters.append({"t_start": time.time() + told.get("off", 0), "title": told["title"]})
            case "click":
                self.click("click", value)
            case "right_click":
                self.click("right_click", value, button=3)
            case "double_click":
                self.click("double_click", value, count=2)
            case "drag":
                self.drag(value)
            case "scroll":
                self.move(*value["at"])
                time.sleep(STOP_BEFORE_CLICK)
                x, y = value["at"]
                button = 5 if value["amount"] > 0 else 4
                command: list[object] = ["click", "--repeat", abs(value["amount"]), "--delay", 120, button]
                self.act("scroll", command, 0.8, target=value["target"], x=x, y=y, amount=value["amount"])
            case "type":
                command = ["type", "--delay", 90, value["text"]]
                self.act("type", command, value.get("settle", 0.7), target=value["target"], text=value["text"])
            case "key":
                self.act("key", ["key", value["keys"]], value.get("settle", 0.7), target="", keys=value["keys"])
            case _:
                raise ValueError(f"unknown scenario step {verb!r}")

    # -- picture, sound, truth ------------------------------------------------------------------------------------

    def record(self) -> None:
        width, height = self.size
        raw, log = self.out / "raw.mkv", self.out / "ffmpeg.log"
        grab = f"ffmpeg -y -hide_banner -nostdin -f x11grab -draw_mouse 1 -framerate {self.frame_rate} -video_size {width}x{height}"
        encode = "-c:v libx264 -preset ultrafast -crf 12 -pix_fmt yuv420p"
        with log.open("wb") as sink:
            camera = subprocess.Popen(
                [*grab.split(), "-i", self.display, *encode.split(), str(raw)], env=self.environment, stderr=sink
            )
        deadline = time.monotonic() + READY_DEADLINE
        while not re.search(r"start: \d", log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1.5)
        for step in self.scenario["steps"]:
            self.play(step)
        time.sleep(1.2)
        self.end_part()
        camera.terminate()
        camera.wait()
        started = re.search(r"start: (\d+\.\d+)", log.read_text())
        if started is None:
            raise RuntimeError(f"ffmpeg recorded nothing; see {log}")
        self.to_video_clock(float(started[1]))
        self.mix(raw)
        self.write_truth(float(started[1]))
        raw.unlink()
        log.unlink()

    def to_video_clock(self, zero: float) -> None:
        for row in [*self.actions, *self.narration, *self.tasks, *self.parts, *self.shows, *self.music, *self.chapters]:
            for name in ("t_start", "t_end"):
                if name in row:
                    row[name] = round(row[name] - zero, 3)
        self.cursor = [(round(t - zero, 3), x, y) for t, x, y in self.cursor]

    def mix(self, raw: Path) -> None:
        inputs, filters = ["-i", str(raw)], []
        for index, line in enumerate(self.narration):
            inputs += ["-i", str(line["wav"])]
            delay = int(line["t_start"] * 1000)
            filters.append(f"[{index + 1}:a]aresample=22050,adelay={delay}:all=1[a{index}]")
        count = len(self.narration)
        for tune in self.music:
            inputs += edit.music(tune["dur"])
            filters.append(f"[{count + 1}:a]adelay={int(tune['t_start'] * 1000)}:all=1[a{count}]")
            count += 1
        lanes = "".join(f"[a{index}]" for index in range(count))
        filters.append(f"{lanes}amix=inputs={count}:normalize=0[a]")
        # A film's noise costs minutes at `slow`; recordings with shows are made where they are needed, not kept.
        cut = edit.picture(self.shows, self.size, count + 1, self.out)
        inputs, filters, seen = inputs + cut.inputs, filters + cut.filters, cut.label
        if scaled := self.scenario.get("scaled"):
            filters.append("[{}]scale={}:{}:flags=bicubic[v]".format(seen, *scaled))
            seen = "v"
        encode = f"-map {'0:v' if seen == '0:v' else f'[{seen}]'} -map [a] -c:v libx264 -preset {'veryfast' if self.shows else 'slow'} -crf 23 -pix_fmt yuv420p -c:a aac -b:a 48k -movflags +faststart"
        command = ["ffmpeg", "-y", "-v", "error", *inputs, "-filter_complex", ";".join(filters), *encode.split()]
        subprocess.run([*command, str(self.out / "tutorial.mp4")], check=True)
        for line in self.narration:
            line.pop("wav").unlink()
        for text in self.out.glob("show*.txt"):
            text.unlink()

    def scale(self, width: int, height: int) -> None:
        """Places in the pixels of a recording that is published smaller or larger than the screen was."""
        across, down = width / self.size[0], height / self.size[1]
        for action in self.actions:
            for name, factor in (("x", across), ("y", down), ("x2", across), ("y2", down)):
                if name in action:
                    action[name] = round(action[name] * factor, 1)
        self.cursor = [(t, round(x * across), round(y * down)) for t, x, y in self.cursor]
        self.size = (width, height)

    def write_truth(self, zero: float) -> None:
        probe = [
            "ffprobe",
            "-v",
            "error",
            "-show_entries",
            "format=duration",
            "-of",
            "csv=p=0",
            str(self.out / "tutorial.mp4"),
        ]
        duration = float(subprocess.run(probe, check=True, capture_output=True, text=True).stdout)
        if scaled := self.scenario.get("scaled"):
            self.scale(*scaled)
        edges = [0.0, *(t for task in self.tasks for t in (task["t_start"], task["t_end"])), round(duration, 3)]
        truth = {
            "fps": self.frame_rate,
            "size": self.size,
            "duration": round(duration, 3),
            "t0_epoch": zero,
            "tasks": self.tasks,
            "non_operations": [[edges[i], edges[i + 1]] for i in range(0, len(edges), 2)],
            "actions": self.actions,
            "narration": self.narration,
            "cursor": self.cursor,
        }
        if self.parts:
            truth |= {"parts": self.parts, "shows": self.shows}
        (self.out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
        info = {**self.scenario["info"], "duration": round(duration, 3)}
        (self.out / "info.json").write_text(
            json.dumps(with_chapters(info, self.chapters, self.scenario), indent=1) + "\n"
        )
        if captions := self.scenario.get("captions"):
            language = self.scenario.get("language", "")
            (self.out / f"tutorial{'.' + language if language else ''}.vtt").write_text(
                "WEBVTT\n\n" + "\n".join(caption(line, bare=captions == "automatic") for line in self.narration)
            )

    def close(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def prepared_home(user: str) -> dict[str, str]:
    """HOME and the like of the user who runs the applications; nothing when that is who records."""
    return {"HOME": pwd.getpwnam(user).pw_dir, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash"} if user else {}


def with_chapters(info: dict[str, Any], chapters: list[dict[str, Any]], scenario: dict[str, Any]) -> dict[str, Any]:
    """The metadata with its chapters (whole seconds), as yt-dlp writes them or as lines of the description."""
    marks = [(0 if index == 0 else max(0, int(row["t_start"])), row["title"]) for index, row in enumerate(chapters)]
    if scenario.get("chapters_in") == "description":
        lines = [f"{seconds // 60}:{seconds % 60:02d} {title}" for seconds, title in marks]
        return {**info, "description": "\n".join([info["description"], "", *lines])}
    ends = [seconds for seconds, _ in marks[1:]] + [info["duration"]]
    rows = [{"start_time": at, "end_time": end, "title": title} for (at, title), end in zip(marks, ends, strict=False)]
    return {**info, "chapters": rows} if rows else info


def caption(line: dict[str, Any], *, bare: bool = False) -> str:
    """One WebVTT cue of a spoken sentence; bare of capitals and punctuation, as automatic captions are."""
    text = re.sub(r"[.,!?;:](?= |$)", "", line["text"]).lower() if bare else line["text"]

    def stamp(seconds: float) -> str:
        whole = int(seconds)
        return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{int(seconds % 1 * 1000):03d}"

    return f"{stamp(line['t_start'])} --> {stamp(line['t_start'] + line['dur'])}\n{text}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", type=Path, help="scenario.yaml: what is shown, done and said")
    parser.add_argument("--out", type=Path, help="folder to write to (default: the scenario's own)")
    parser.add_argument("--display", default=":98", help="a free X display number")
    parser.add_argument("--user", default="", help="run the applications as this user (when root records)")
    arguments = parser.parse_args()
    out = arguments.out or arguments.scenario.parent
    out.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(yaml.safe_load(arguments.scenario.read_text()), out, arguments.display, arguments.user)
    try:
        recorder.open_desktop()
        recorder.record()
    finally:
        recorder.close()
    print(f"{out}: {len(recorder.actions)} actions, {len(recorder.tasks)} tasks, {len(recorder.narration)} sentences")


if __name__ == "__main__":
    main()
