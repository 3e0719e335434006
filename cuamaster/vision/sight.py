"""What a desktop shows and holds at one moment, each thing fetched at most once: the cheap shell questions in one command.

Raises CheckFailed for what cannot be found out, other DesktopFaults when the desktop itself fails.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from cuamaster.errors import CheckFailed
from cuamaster.ports import Desktop, Frame, ScreenReader, ShellResult
from cuamaster.records.condition import AppRunning, Condition, FileExists, SettingValue
from cuamaster.records.templates import quote
from cuamaster.records.trajectory import StateSignature, TextBox
from cuamaster.vision.reading import can_be_read

_FENCE = "=-=-= end of answer"
_PROCESSES = "ps -eo args= -ww"


def process_names(listing: str) -> frozenset[str]:
    """Base names of programs in `ps -eo args=` output; an interpreter's script counts as a program as well."""
    names: set[str] = set()
    for line in listing.splitlines():
        words = line.split()
        for word in words[:1] + [w for w in words[1:2] if w.startswith("/")]:
            names.add(re.sub(r"\.(py|sh|js|bin)$", "", word.rsplit("/", 1)[-1]))
    return frozenset(names)


class Sight:
    """One look at a desktop; `wanted` are the leaves that will be asked about, so that their shell questions go together.

    `ended` is the status with which the policy has ended the episode, '' as long as it has not.
    """

    def __init__(
        self, desktop: Desktop, reader: ScreenReader, wanted: Sequence[Condition] = (), ended: str = ""
    ) -> None:
        self.ended = ended
        self._desktop = desktop
        self._reader = reader
        self._questions = {self._question(leaf) for leaf in wanted} - {""}
        self._answers: dict[str, str] = {}
        self._ran: dict[str, ShellResult] = {}
        self._files: dict[str, bytes | None] = {}
        self._boxes: dict[str, list[TextBox]] = {}
        self._frame: Frame | None = None
        self._state: StateSignature | None = None

    @staticmethod
    def _type_question(path: str) -> str:
        word = quote(path)
        return f"if [ -d {word} ]; then echo dir; elif [ -e {word} ]; then echo file; else echo absent; fi"

    @staticmethod
    def _setting_question(schema_id: str, key: str) -> str:
        return f"gsettings get {shlex.quote(schema_id)} {shlex.quote(key)}"

    def _question(self, leaf: Condition) -> str:
        if isinstance(leaf, FileExists):
            return self._type_question(leaf.path)
        if isinstance(leaf, SettingValue):
            return self._setting_question(leaf.schema_id, leaf.key)
        return _PROCESSES if isinstance(leaf, AppRunning) else ""

    def _ask(self, question: str) -> str:
        if question not in self._answers:
            questions = sorted(self._questions - set(self._answers) | {question})
            script = "\n".join(f"{{ {q}\n}} 2>&1; status=$?; echo; echo '{_FENCE}' $status" for q in questions)
            result = self._desktop.shell(script)
            parts = re.split(rf"^{re.escape(_FENCE)} (\d+)$\n?", result.stdout, flags=re.MULTILINE)
            if len(parts) != 2 * len(questions) + 1:
                raise CheckFailed(
                    f"the check commands ended early (exit {result.exit_code}): {result.stderr.strip()[:200]}"
                )
            for q, text, status in zip(questions, parts[::2], parts[1::2], strict=False):
                self._answers[q] = text.strip("\n") if status == "0" else f"\0{text.strip()}"
        answer = self._answers[question]
        if answer.startswith("\0"):
            raise CheckFailed(f"`{question}` failed: {answer[1:][:200]}")
        return answer

    def file_type(self, path: str) -> str:
        """file | dir | absent."""
        return self._ask(self._type_question(path))

    def setting(self, schema_id: str, key: str) -> str:
        """GVariant text of a gsettings key."""
        return self._ask(self._setting_question(schema_id, key))

    def processes(self) -> frozenset[str]:
        """Names of the programs that run."""
        return process_names(self._ask(_PROCESSES))

    def file(self, path: str) -> bytes | None:
        """Contents, or None when there is no such file."""
        if path not in self._files:
            self._files[path] = self._desktop.read_file(path)
        return self._files[path]

    def shell(self, command: str) -> ShellResult:
        """A condition's own command, run by itself."""
        if command not in self._ran:
            self._ran[command] = self._desktop.shell(command)
        return self._ran[command]

    def clipboard(self) -> str:
        """Text of the clipboard; '' when it is empty or holds no text."""
        result = self._desktop.shell("timeout 5 xclip -selection clipboard -o")
        if result.exit_code in (0, 1):  # 1: nothing there that is text
            return result.stdout
        raise CheckFailed(f"the clipboard did not answer: {result.stderr.strip()[:200]}")

    def state(self) -> StateSignature:
        """Windows and focus."""
        if self._state is None:
            self._state = self._desktop.state()
        return self._state

    def reads(self, text: str, app: str) -> tuple[bool, str]:
        """Whether `text` can be read (in the active window, which must be `app`'s, if `app` is given), and what is there."""
        if app:
            active = self.state().active
            if active is None or active.app != app:
                return False, f"the active window is {active.app + ': ' + active.title if active else 'none'}"
        boxes = self._read(app)
        return can_be_read(text, boxes), " | ".join(box.text for box in boxes)[:600] or "no text"

    def _read(self, app: str) -> list[TextBox]:
        if app not in self._boxes:
            if self._frame is None:
                self._frame = self._desktop.settle(timeout=3.0, quiet=0.3)
            region = self._region(app)
            boxes = self._reader.read(self._frame.image, region=region)
            if region is not None:
                x0, y0, x1, y1 = region
                boxes = [b for b in boxes if x0 <= b.center[0] <= x1 and y0 <= b.center[1] <= y1]
            self._boxes[app] = boxes
        return self._boxes[app]

    def _region(self, app: str) -> tuple[int, int, int, int] | None:
        active = self.state().active if app else None
        if active is None or active.width <= 0 or active.height <= 0:
            return None
        width, height = self._desktop.width, self._desktop.height
        x0, y0 = max(0, active.x), max(0, active.y)
        x1, y1 = min(width, active.x + active.width), min(height, active.y + active.height)
        return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None
