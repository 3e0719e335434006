"""Parsers of caption files (WebVTT, SubRip, YouTube's json3) to timed cues; pure functions over text."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

from cuamaster.errors import InvalidInput
from cuamaster.records.speech import spread
from cuamaster.records.transcript import Sentence, Word

_STAMP = r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"^\s*(-?){_STAMP}\s*-->\s*(-?){_STAMP}")
_INLINE = re.compile(rf"<{_STAMP}>")
_TAG = re.compile(r"</?[^<>]*>|\{\\[^}]*\}")
_NOISE = re.compile(r"[\[(（][^\])）]{0,40}[\])）]|[♪♫]+|^\s*>>+|(?<=\s)>>+")
_GLIMPSE = 0.05
ROLLING_SHARE = 0.3
"""Share of cues that repeat the end of the one before from which a file counts as rolling captions."""


def parse(text: str, kind: str) -> list[Sentence]:
    """Cues of a `vtt`, `srt` or `json3` text, in file order with times as written; raises InvalidInput if it is none."""
    if kind == "json3":
        return _json3(text)
    cues = []
    gap = r"\n{2,}" if kind == "vtt" else r"\n[ \t]*\n"  # YouTube's cues hold lines with one blank
    for block in re.split(gap, text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.split("\n")
        at = next((index for index, line in enumerate(lines) if _TIMING.match(line)), None)
        if at is None or lines[0].startswith(("NOTE", "STYLE", "REGION")):
            continue
        match = _TIMING.match(lines[at])
        assert match is not None
        start, end = _seconds(match.groups()[:5]), _seconds(match.groups()[5:])
        cues.append(_cue("\n".join(lines[at + 1 :]), start, end))
    if not cues and text.strip() and "WEBVTT" not in text[:16]:
        raise InvalidInput(f"no cues found; this is not a {kind} file")
    return _unroll([cue for cue in cues if cue.words])


def _seconds(parts: Sequence[str | None]) -> float:
    sign, hours, minutes, seconds, fraction = parts
    value = (
        int(hours or 0) * 3600
        + int(minutes or 0) * 60
        + int(seconds or 0)
        + int((fraction or "0").ljust(3, "0")) / 1000
    )
    return -value if sign else value


def plain(text: str) -> str:
    """Without tags, entities, and notes such as [Music]."""
    return " ".join(_NOISE.sub(" ", html.unescape(_TAG.sub("", text))).split())


def _cue(raw: str, start: float, end: float) -> Sentence:
    """Words of one cue; `<00:00:01.000>` marks inside it are word times, what lies between marks is spread."""
    marks = [(start, 0)]
    pieces, last = [], 0
    lines = raw.split("\n")
    marked = next((index for index, line in enumerate(lines) if _INLINE.search(line)), 0)
    carried = spread(plain(" ".join(lines[:marked])), start, start)  # the line before, still on the screen
    raw = "\n".join(lines[marked:])
    for match in _INLINE.finditer(raw):
        pieces.append(raw[last : match.start()])
        marks.append((_seconds(("", *match.groups())), match.end()))
        last = match.end()
    pieces.append(raw[last:])
    words = list(carried)
    for index, piece in enumerate(pieces):
        until = marks[index + 1][0] if index + 1 < len(marks) else end
        words += spread(plain(piece), marks[index][0], max(until, marks[index][0]))
    return Sentence(text=" ".join(word.text for word in words), start=start, end=end, words=tuple(words))


def _unroll(cues: list[Sentence]) -> list[Sentence]:
    """Rolling captions show each line twice: keep only what a cue adds to the words before it."""
    repeats = [index > 0 and _rolls(cues[index - 1], cue) for index, cue in enumerate(cues)]
    if sum(repeats) < ROLLING_SHARE * len(cues):
        return cues
    kept: list[Sentence] = []
    said: list[Word] = []
    for cue, rolls in zip(cues, repeats, strict=True):
        count = _repeated(said[-60:], cue.words) if rolls else 0
        fresh = cue.words[count:]
        if not fresh:
            continue
        if count:  # the repeated words took no time: what is new fills the cue
            untimed = all(word in spread(cue.text, cue.start, cue.end) for word in fresh)
            fresh = spread(" ".join(word.text for word in fresh), cue.start, cue.end) if untimed else fresh
        kept.append(
            Sentence(text=" ".join(word.text for word in fresh), start=fresh[0].start, end=cue.end, words=tuple(fresh))
        )
        said += fresh
    return kept


def _rolls(before: Sentence, cue: Sentence) -> bool:
    """It follows at once, begins with the words before, and adds some or lasts no time; a loop does neither."""
    count = _repeated(before.words, cue.words)
    at_once = cue.start - before.end <= _GLIMPSE
    return at_once and count > 0 and (count < len(cue.words) or cue.end - cue.start <= _GLIMPSE)


def _repeated(before: Sequence[Word], words: Sequence[Word]) -> int:
    """How many leading words repeat the end of what was said."""
    old, new = [word.text for word in before], [word.text for word in words]
    for count in range(min(len(old), len(new)), 0, -1):
        if old[-count:] == new[:count]:
            return count
    return 0


def _json3(text: str) -> list[Sentence]:
    try:
        events = json.loads(text)["events"]
        spoken = [event for event in events if event.get("segs") and not event.get("aAppend")]
        cues = []
        for index, event in enumerate(spoken):
            start = float(event["tStartMs"]) / 1000
            end = start + float(event.get("dDurationMs", 0)) / 1000
            following = float(spoken[index + 1]["tStartMs"]) / 1000 if index + 1 < len(spoken) else end
            cues.append(_event(event["segs"], start, min(end, following) if following > start else end))
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as exc:
        raise InvalidInput(f"not a json3 caption file: {exc!r}") from exc
    return [cue for cue in cues if cue.words]


def _event(segs: list[dict[str, object]], start: float, end: float) -> Sentence:
    words: list[Word] = []
    times = [start + float(str(seg.get("tOffsetMs", 0))) / 1000 for seg in segs]
    for index, seg in enumerate(segs):
        until = times[index + 1] if index + 1 < len(times) else max(end, times[index])
        words += spread(plain(str(seg.get("utf8", ""))), times[index], max(until, times[index]))
    return Sentence(text=" ".join(word.text for word in words), start=start, end=end, words=tuple(words))
