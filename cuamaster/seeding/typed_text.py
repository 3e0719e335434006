"""Which text was typed: what newly stands on the screen, checked against what was said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from rapidfuzz.distance import Levenshtein, Postfix

from cuamaster.ports import Image, ScreenReader
from cuamaster.records.trajectory import TextBox
from cuamaster.seeding.footage import Footage
from cuamaster.seeding.triggers import VisualTrigger
from cuamaster.vision.changes import Region
from cuamaster.vision.reading import lines_of, skeleton

_CARET = "|Il1!]["
_ALIKE = 0.75
_RELATED = 0.35  # below, the two speak of different things
_PAD = 8
_MAX_LINES = 5
_SETTLE = 0.4
_BESIDE = 4  # pixels
_ENDING = 2  # letters that are the same by no chance


def shown_text(footage: Footage, seen: VisualTrigger, reader: ScreenReader, said: str | None) -> str | None:
    """The text that came to stand on the screen during a typing trigger; of several places the one most like `said`."""
    following = min((c.t for c in footage.changes if c.t > seen.t_end + 0.02), default=footage.times[-1])
    before, after = footage.frame(seen.t - 0.05), footage.frame(min(seen.t_end + _SETTLE, following - 0.05))
    found: list[tuple[float, float, str]] = []
    for line in text_strips(seen, footage):
        area = (max(0, line.x0 - 8 * line.height), line.y0 - _PAD, line.x1 + 2 * line.height, line.y1 + _PAD)
        for new in _news(_read(reader, before, area, line), _read(reader, after, area, line), said):
            found.append((_likeness(said, new) if said else 0.5, line.pixels, new))
    return max(found)[2] if found else None


def settle_text(said: str | None, shown: str | None, *, written: bool) -> tuple[str, float] | None:
    """The typed text and how sure: the screen's letters with the speaker's blanks where both agree, else the better witness.

    `written`: the words are captions; then a screen that says nearly the same was misread. Recognized speech is itself the worse witness.
    """
    if said is None or not said.strip():
        return (shown, 0.6) if shown else None
    said = said.strip()
    if not shown:
        return said, 0.55
    shown = _without_caret(said, shown)
    if shown == said:
        return said, 0.98
    if _letters(said) == _letters(shown):
        return _with_blanks(said, shown), 0.95
    if _likeness(said, shown) >= _ALIKE:
        return (said if written else _with_blanks(said, shown)), 0.75
    if not written and (_likeness(said, shown) >= _RELATED or _one_name(said, shown)):
        return shown, 0.5
    return said, 0.5


def _one_name(said: str, shown: str) -> bool:
    """One unbroken word about as long as what was heard: a name that the recognizer does not know ("I-R-D-X-T" for diary.txt)."""
    heard, seen = len(_letters(said)), len(_letters(shown))
    return not re.search(r"\s", shown.strip()) and heard <= 2 * seen and seen <= 2 * heard


# -- corridors ------------------------------------------------------------------------------------------------------


def text_strips(seen: VisualTrigger, footage: Footage) -> list[Region]:
    """Changed strips no taller than a line of text, joined along their line; wide ones with many changed pixels first."""
    limit = footage.height * 0.055
    strips: list[Region] = []
    for part in sorted(seen.parts, key=lambda region: region.x0):
        if part.height > limit or part.pixels < 6:
            continue
        for index, strip in enumerate(strips):
            shared = min(strip.y1, part.y1) - max(strip.y0, part.y0)
            if shared >= 0.5 * min(strip.height, part.height) and part.x0 - strip.x1 <= 2 * limit:
                joined_strip = Region(
                    min(strip.x0, part.x0), min(strip.y0, part.y0), max(strip.x1, part.x1), max(strip.y1, part.y1), strip.pixels + part.pixels
                )  # fmt: skip
                if joined_strip.height <= limit:
                    strips[index] = joined_strip
                    break
        else:
            strips.append(part)
    return sorted(strips, key=lambda region: -region.pixels * (1 if region.width > 1.2 * region.height else 0.3))[
        :_MAX_LINES
    ]


def _read(reader: ScreenReader, image: Image, area: tuple[int, int, int, int], line: Region) -> str:
    """Text at the strip: the area is wider, for letters need room to be read, but what stands beside the strip is not it."""
    boxes = reader.read(image, region=area)
    return joined([box for box in boxes if box.x1 >= line.x0 - _BESIDE and box.x0 <= line.x1 + _BESIDE])


def joined(boxes: Sequence[TextBox]) -> str:
    """Boxes as text, line by line, with a blank where there is room for one."""
    lines = []
    for line in lines_of(boxes):
        text = ""
        for index, box in enumerate(line):
            height = box.y1 - box.y0
            text += (" " if index and box.x0 - line[index - 1].x1 > 0.1 * height else "") + box.text
        lines.append(text)
    return " ".join(lines)


def _news(before: str, after: str, said: str | None) -> list[str]:
    """What was typed, as far as the screen can tell: what is new, or, over a selection that ended alike, the whole word; or what is new before an
    ending that stayed (a file's name typed over, and its ending left), which is read once better and once worse."""
    start, end = _new_part(before, after)
    new = after[start:end].strip()
    if not new:
        return []
    same = Postfix.similarity(before, after)
    if (
        said is not None
        and end == len(after)
        and same >= _ENDING
        and (typed := after[start : len(after) - same].strip())
    ):
        return [new, typed]
    left, right = after[:start], after[end:]
    word = re.sub(r"^.*\s", "", left) + after[start:end] + re.sub(r"\s.*$", "", right)
    return [new] if said is None or word.strip() == new else [new, word.strip()]


def _new_part(before: str, after: str) -> tuple[int, int]:
    """Where in `after` stands what `before` had not."""
    if not before:
        return 0, len(after)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    kept = [block for block in matcher.get_matching_blocks() if block.size >= 2 or len(before) == block.size]
    start, end = 0, len(after)
    if kept and kept[0].b == 0:
        start = kept[0].size
    if kept and kept[-1].size and kept[-1].b + kept[-1].size == len(after) and kept[-1].b >= start:
        end = kept[-1].b
    return start, end


def _letters(text: str) -> str:
    return re.sub(r"\W", "", skeleton(text))


def _likeness(said: str | None, shown: str) -> float:
    return float(Levenshtein.normalized_similarity(_letters(said or ""), _letters(shown)))


def _without_caret(said: str, shown: str) -> str:
    """A text cursor behind the last letter is often read as one."""
    for text in (shown[:-1], shown[1:]):
        mark = shown[-1] if text == shown[:-1] else shown[0]
        if mark in _CARET and _letters(text) == _letters(said):
            return text.strip()
    return shown


def _with_blanks(said: str, shown: str) -> str:
    """The shown letters, with blanks where the speaker made word breaks and none elsewhere unless the speaker's words end there."""
    solid = re.sub(r"\s+", "", shown)
    words = said.split()
    breaks, at = set(), 0
    target = re.sub(r"\s+", "", said)
    opcodes = SequenceMatcher(None, target.casefold(), solid.casefold(), autojunk=False).get_opcodes()
    for word in words[:-1]:
        at += len(word)
        for kind, a0, a1, b0, b1 in opcodes:
            if a0 <= at <= a1:
                breaks.add(b0 + (at - a0) if kind == "equal" else b1)
                break
    # punctuation that the speech lacks belongs to the word before it
    placed: set[int] = set()
    for place in breaks:
        while place < len(solid) and solid[place] in ",;:!?.)" and not target[: place + 1].endswith(solid[place]):
            place += 1
        placed.add(place)
    return "".join((" " if index in placed and index else "") + letter for index, letter in enumerate(solid))
