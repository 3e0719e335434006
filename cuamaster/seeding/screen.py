"""Decides from metadata which candidates are worth fetching, and from the probe which are worth reading; drops keep a reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cuamaster.errors import UnknownName
from cuamaster.records.episode import Dropped
from cuamaster.records.mentions import Mention
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import MediaInfo, Opinion, Reading, Video
from cuamaster.seeding.scorer import KINDS, NAME, load_scorer

STAGE = "screen"
TITLE_READ, ABOUT_READ = 400, 3000
"""Characters of a title and a description that are searched for names; no site allows much more."""
SURE = 0.7
"""Probability from which a title is believed against the category it was put into."""
UNDECIDED = 0.25
"""A probability nearer than this to what is wanted is a borderline case, on which a model may be asked."""
READ_AGAIN = 0.45
"""A scorer's probability nearer than this to what is wanted is worth a second reading; beyond it that changes next to nothing (chosen by
cross-validation by application)."""
OPEN = frozenset(["public", "unlisted"])
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_VERSION = re.compile(r"[\s-]*((?:19|20)\d\d)(?!\d)")
FOREIGN_CATEGORIES = frozenset(
    ["music", "gaming", "sports", "comedy", "entertainment", "news & politics", "pets & animals", "movies", "trailers", "shows",
     "autos & vehicles", "travel & events", "film & animation"]
)  # fmt: skip
"""Categories of video sites in which a tutorial is a surprise; a title that says so is believed all the same."""


@dataclass(frozen=True)
class ScreenRules:
    """Limits in seconds, pixels and ISO dates (YYYY-MM-DD); None means no limit."""

    min_duration_s: float = 15.0
    max_duration_s: float = 3600.0
    uploaded_after: str | None = None
    uploaded_before: str | None = None
    min_likely: float = 0.5
    """Probability to be a tutorial that a video found by search needs."""


class Verdict(NamedTuple):
    """Reason and detail of a drop ('' if kept), and the application a kept video is about."""

    reason: str
    detail: str
    app: str | None


def screen(
    videos: Iterable[Video], taxonomy: Taxonomy, rules: ScreenRules, *, today: str | None = None
) -> tuple[list[Video], list[Dropped]]:
    """Metadata filter, then the scorer. Kept videos carry the application they are about, if their text names one."""
    batch = list(videos)
    kept: list[Video] = []
    dropped: list[Dropped] = []
    for video, verdict in zip(batch, judge(batch, taxonomy, rules, today=today), strict=True):
        if verdict.reason:
            dropped.append(Dropped(item_id=video.id, stage=STAGE, reason=verdict.reason, detail=verdict.detail))
        else:
            kept.append(video if video.app == verdict.app else video.model_copy(update={"app": verdict.app}))
    return kept, dropped


class _Seen(NamedTuple):
    """A batch as the metadata rules and the scorer see it; one entry a video in each."""

    mentions: list[list[Mention]]
    texts: list[tuple[str, str]]
    likely: list[float]
    faults: list[tuple[str, str] | None]


def judge(
    batch: Sequence[Video],
    taxonomy: Taxonomy,
    rules: ScreenRules,
    *,
    today: str | None = None,
    read: Mapping[str, Reading] | None = None,
    told: Mapping[str, Opinion] | None = None,
) -> list[Verdict]:
    """What becomes of each video. `today` (YYYY-MM-DD) is what a date in the future is measured by.

    `read`, `told`: second readings and opinions by video id, which stand in for the scorer's word. Each video is judged by itself, so
    any cut of the input gives the same result.
    """
    scorer, read, told = load_scorer(), read or {}, told or {}
    seen = _see(batch, taxonomy, rules, today, read)
    faults = list(seen.faults)
    # What a person pointed to (no query) is taken whatever its title says.
    asked = [index for index, video in enumerate(batch) if video.query is not None and faults[index] is None]
    doubted = [index for index in asked if batch[index].id not in told and seen.likely[index] < rules.min_likely]
    texts = [seen.texts[index] for index in doubted]
    kinds = scorer.kind([title for title, _ in texts], [about for _, about in texts])
    against = scorer.evidence([title for title, _ in texts])
    for index, guess, words in zip(doubted, kinds, against, strict=True):
        kind = read[batch[index].id].kind if batch[index].id in read else guess
        detail = f"{seen.likely[index]:.2f} to be a tutorial; against it: {', '.join(words) or 'no word in particular'}"
        faults[index] = _noise(batch[index], seen.mentions[index], kind, detail)
    for index in asked:
        opinion = told.get(batch[index].id)
        if opinion is not None and not opinion.tutorial:
            kind = opinion.kind if opinion.kind in KINDS else "other"
            detail = f"{seen.likely[index]:.2f} to be a tutorial; {opinion.annotator}: {opinion.reason}"
            faults[index] = _noise(batch[index], seen.mentions[index], kind, detail)
    return [
        Verdict(fault[0], f"{video.url}: {fault[1]}", video.app)
        if fault
        else Verdict("", "", _app_of(video, found, taxonomy))
        for video, found, fault in zip(batch, seen.mentions, faults, strict=True)
    ]


def undecided(
    batch: Sequence[Video],
    taxonomy: Taxonomy,
    rules: ScreenRules,
    *,
    today: str | None = None,
    read: Mapping[str, Reading] | None = None,
    within: float = UNDECIDED,
) -> list[tuple[float, Video]]:
    """(distance to the wanted probability, video) of those found by search whose distance is below `within`, and that metadata leaves open."""
    seen = _see(batch, taxonomy, rules, today, read or {})
    return [
        (abs(p - rules.min_likely), video)
        for video, p, fault in zip(batch, seen.likely, seen.faults, strict=True)
        if fault is None and video.query is not None and abs(p - rules.min_likely) < within
    ]


def _see(
    batch: Sequence[Video], taxonomy: Taxonomy, rules: ScreenRules, today: str | None, read: Mapping[str, Reading]
) -> _Seen:
    mentions = [in_title(video, taxonomy) for video in batch]
    texts = [masked(video.title, video.description, found) for video, found in zip(batch, mentions, strict=True)]
    score = load_scorer().score([title for title, _ in texts], [about for _, about in texts]).tolist()
    likely = [read[video.id].likely if video.id in read else p for video, p in zip(batch, score, strict=True)]
    faults = [
        metadata_fault(video, found, taxonomy, rules, p, today)
        for video, found, p in zip(batch, mentions, likely, strict=True)
    ]
    return _Seen(mentions, texts, likely, faults)


def _app_of(video: Video, found: Sequence[Mention], taxonomy: Taxonomy) -> str | None:
    return video.app or _most_named(found) or _most_named(taxonomy.mentions(_about(video)))


def metadata_fault(
    video: Video,
    found: Sequence[Mention],
    taxonomy: Taxonomy,
    rules: ScreenRules,
    likely: float,
    today: str | None = None,
) -> tuple[str, str] | None:
    """(reason, detail) of the first metadata rule broken; unknown facts break none. `found`: applications named in the title,
    `likely`: the scorer's probability, for what metadata alone leaves open."""
    if video.availability is not None and video.availability not in OPEN:
        return "unavailable", f"availability is {video.availability}"
    if video.duration is not None:
        fault = _duration_fault(video.duration, rules)
        if fault:
            return fault
    date = video.upload_date if _DATE.fullmatch(video.upload_date or "") else None
    if date and (fault := _date_fault(date, video, found, rules, today)):
        return fault
    return _application_fault(video, found, taxonomy) or _category_fault(video, likely)


def _duration_fault(duration: float, rules: ScreenRules) -> tuple[str, str] | None:
    if not duration >= rules.min_duration_s:  # also what is no number
        return "too-short", f"{duration:.1f} s, wanted at least {rules.min_duration_s:g} s"
    if duration > rules.max_duration_s:
        return "too-long", f"{duration:.1f} s, wanted at most {rules.max_duration_s:g} s"
    return None


def _date_fault(
    date: str, video: Video, found: Sequence[Mention], rules: ScreenRules, today: str | None
) -> tuple[str, str] | None:
    if rules.uploaded_after and date < rules.uploaded_after:
        return "too-old", f"uploaded {date}, wanted after {rules.uploaded_after}"
    if rules.uploaded_before and date > rules.uploaded_before:
        return "too-new", f"uploaded {date}, wanted before {rules.uploaded_before}"
    if today and date > today:
        return "future-date", f"uploaded {date}, and today is {today}: not out yet, or its metadata is wrong"
    for mention in found:
        version = _VERSION.match(video.title, mention.end)
        if version and int(version[1]) > int(date[:4]) + 1:
            return "version-after-upload", f"about {mention.name} {version[1]}, uploaded {date}: one of them is wrong"
    return None


def _application_fault(video: Video, found: Sequence[Mention], taxonomy: Taxonomy) -> tuple[str, str] | None:
    """The application it was found for must be the one it is about."""
    if video.app is None:
        return None
    try:
        app = taxonomy.app(video.app)
    except UnknownName as exc:
        return "unknown-application", exc.message
    in_title = {mention.app for mention in found}
    if app.id in in_title:
        return None
    if in_title:
        return "other-application", f"found for {app.name}, the title names {', '.join(sorted(in_title))}"
    if video.query is not None and app.id not in {mention.app for mention in taxonomy.mentions(_about(video))}:
        return "application-not-named", f"neither title nor description names {app.name}"
    return None


def _category_fault(video: Video, likely: float) -> tuple[str, str] | None:
    foreign = [name for name in video.categories if name.lower() in FOREIGN_CATEGORIES]
    if foreign and len(foreign) == len(video.categories) and likely < SURE:
        return "foreign-category", f"category {', '.join(foreign)} and a title that promises no tutorial"
    return None


def _noise(video: Video, found: Sequence[Mention], kind: str, detail: str) -> tuple[str, str]:
    named = {mention.app for mention in found}
    if kind == "only-mentioned" or (video.app and video.app not in named):
        return "only-mentioned", f"{video.title!r} is not about {video.app}: {detail}"
    return f"noise-{kind}", f"{video.title!r}: {detail}"


def in_title(video: Video, taxonomy: Taxonomy) -> list[Mention]:
    """Applications that the title names."""
    return taxonomy.mentions(video.title[:TITLE_READ])


def masked(title: str, about: str, found: Sequence[Mention]) -> tuple[str, str]:
    """Both texts with the names of applications that the title has replaced by one sign."""
    parts, last = [], 0
    for mention in found:
        parts += [title[last : mention.start], NAME]
        last = mention.end
        about = about.replace(mention.name, NAME)
    return "".join([*parts, title[last:]]), about


def media_fault(video: Video, info: MediaInfo, rules: ScreenRules, *, has_captions: bool) -> Dropped | None:
    """What the probe shows: no picture, no words, too short or long after all. Whether its letters can be read the screen gate finds out."""
    fault = _duration_fault(info.duration, rules)
    if not info.has_video:
        fault = "no-video-stream", "sound only"
    elif not info.has_audio and not has_captions:
        fault = "no-narration", "neither sound nor captions"
    return fault and Dropped(item_id=video.id, stage=STAGE, reason=fault[0], detail=f"{video.url}: {fault[1]}")


def _about(video: Video) -> str:
    return " ".join((video.title[:TITLE_READ], video.description[:ABOUT_READ], *video.categories))


def _most_named(found: Sequence[Mention]) -> str | None:
    """The application named most often, of several the first."""
    count = Counter(mention.app for mention in found)
    return count.most_common(1)[0][0] if count else None
