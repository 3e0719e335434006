"""Decides from metadata which candidates are worth fetching, and from the probe which are worth reading; drops keep a reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cuamaster.errors import UnknownName
from cuamaster.records.episode import Dropped
from cuamaster.records.taxonomy import NoiseKind, Taxonomy, Words
from cuamaster.records.video import MediaInfo, Video
from cuamaster.seeding.scorer import NAME

STAGE = "screen"
OPEN = frozenset(["public", "unlisted"])
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
    min_height: int = 360
    language: str = "en"


def screen(videos: Iterable[Video], taxonomy: Taxonomy, rules: ScreenRules) -> tuple[list[Video], list[Dropped]]:
    """Metadata filter, then noise filter. Kept videos carry the application they are about, if their text names one."""
    kept: list[Video] = []
    dropped: list[Dropped] = []
    for video in videos:
        fault = metadata_fault(video, taxonomy, rules) or noise_fault(video, taxonomy, rules)
        if fault is not None:
            dropped.append(Dropped(item_id=video.id, stage=STAGE, reason=fault[0], detail=f"{video.url}: {fault[1]}"))
        else:
            kept.append(video if video.app else video.model_copy(update={"app": _first_app(video, taxonomy)}))
    return kept, dropped


def metadata_fault(video: Video, taxonomy: Taxonomy, rules: ScreenRules) -> tuple[str, str] | None:
    """(reason, detail) of the first metadata rule broken; unknown facts break none."""
    if video.availability is not None and video.availability not in OPEN:
        return "unavailable", f"availability is {video.availability}"
    if video.duration is not None:
        fault = _duration_fault(video.duration, rules)
        if fault:
            return fault
    date = video.upload_date if re.fullmatch(r"\d{4}-\d\d-\d\d", video.upload_date or "") else None
    if date and rules.uploaded_after and date < rules.uploaded_after:
        return "too-old", f"uploaded {date}, wanted after {rules.uploaded_after}"
    if date and rules.uploaded_before and date > rules.uploaded_before:
        return "too-new", f"uploaded {date}, wanted before {rules.uploaded_before}"
    return _application_fault(video, taxonomy) or _category_fault(video, taxonomy, rules)


def _duration_fault(duration: float, rules: ScreenRules) -> tuple[str, str] | None:
    if duration < rules.min_duration_s:
        return "too-short", f"{duration:.1f} s, wanted at least {rules.min_duration_s:g} s"
    if duration > rules.max_duration_s:
        return "too-long", f"{duration:.1f} s, wanted at most {rules.max_duration_s:g} s"
    return None


def _application_fault(video: Video, taxonomy: Taxonomy) -> tuple[str, str] | None:
    """The application it was found for must be the one it is about."""
    if video.app is None:
        return None
    try:
        app = taxonomy.app(video.app)
    except UnknownName as exc:
        return "unknown-application", exc.message
    in_title = [item.id for item in taxonomy.match(video.title)]
    everywhere = [item.id for item in taxonomy.match(_text(video))]
    if in_title and app.id not in in_title:
        return "other-application", f"found for {app.name}, the title names {', '.join(in_title)}"
    if app.id not in everywhere and video.query is not None:
        return "application-not-named", f"neither title nor description names {app.name}"
    return None


def _category_fault(video: Video, taxonomy: Taxonomy, rules: ScreenRules) -> tuple[str, str] | None:
    foreign = [name for name in video.categories if name.lower() in FOREIGN_CATEGORIES]
    if foreign and len(foreign) == len(video.categories) and not _teaches(video.title, taxonomy, rules.language):
        return "foreign-category", f"category {', '.join(foreign)} and a title that promises no tutorial"
    return None


def noise_fault(video: Video, taxonomy: Taxonomy, rules: ScreenRules) -> tuple[str, str] | None:
    """(reason, detail) if the video looks like promotion, entertainment, a language lesson, news or a review, or if the
    software is only mentioned in passing. A title that promises a tutorial outweighs single noise words."""
    language = video.language or rules.language
    teaches = _teaches(video.title, taxonomy, language)
    for words in _word_lists(taxonomy, language):
        for kind, noise in words.noise.items():
            hits = [word for word in noise if _said(word, video.title)]
            deep = [word for word in noise if _said(word, video.description)]
            if _is_noise(kind, hits, deep, teaches):
                return f"noise-{kind}", f"{video.title!r} has {', '.join(hits or deep)}"
    named = {item.id for item in taxonomy.match(video.title)}
    if video.query is not None and video.app and video.app not in named and not teaches:
        return "only-mentioned", f"{video.title!r} does not name {video.app}; only its description does"
    return None


def _is_noise(kind: NoiseKind, hits: list[str], deep: list[str], teaches: bool) -> bool:
    if kind == "language-lesson":  # such lessons call themselves tutorials too
        return sum(2 if " " in word else 1 for word in hits) >= 2 or (bool(hits or len(deep) > 1) and not teaches)
    return not teaches and (bool(hits) or (kind == "promotion" and len(deep) >= 3))


def media_fault(video: Video, info: MediaInfo, rules: ScreenRules, *, has_captions: bool) -> Dropped | None:
    """What the probe shows: no picture, no words, too short or long after all, a phone's portrait picture, too few pixels."""
    fault = _duration_fault(info.duration, rules)
    if not info.has_video:
        fault = "no-video-stream", "sound only"
    elif not info.has_audio and not has_captions:
        fault = "no-narration", "neither sound nor captions"
    elif info.width < info.height:
        fault = "portrait", f"{info.width}x{info.height}: a phone's screen or a phone's camera"
    elif info.height < rules.min_height:
        fault = "low-resolution", f"{info.width}x{info.height}: labels cannot be read"
    return fault and Dropped(item_id=video.id, stage=STAGE, reason=fault[0], detail=f"{video.url}: {fault[1]}")


def masked(title: str, about: str, taxonomy: Taxonomy) -> tuple[str, str]:
    """Both texts with each name of an application replaced by one sign."""
    return _masked(title, taxonomy), _masked(about, taxonomy)


def _masked(text: str, taxonomy: Taxonomy) -> str:
    parts, last = [], 0
    for mention in taxonomy.mentions(text):
        parts += [text[last : mention.start], NAME]
        last = mention.end
    return "".join([*parts, text[last:]])


def _teaches(title: str, taxonomy: Taxonomy, language: str) -> bool:
    """The title holds an action word: tutorial, how to, ..."""
    stems = [
        part
        for words in _word_lists(taxonomy, language)
        for action in words.actions
        for part in ("how to", action.replace("{app}", " ").strip())
    ]
    return any(_said(stem, title) for stem in stems)


def _word_lists(taxonomy: Taxonomy, language: str) -> list[Words]:
    """The video's language and English, which titles mix with everything."""
    codes = dict.fromkeys((language.lower().split("-")[0], "en"))
    return [taxonomy.words[code] for code in codes if code in taxonomy.words]


def _said(word: str, text: str) -> bool:
    """Whole-word search; scripts without blanks are searched as they are."""
    if not word.isascii() and re.search(r"[぀-ヿ一-鿿]", word):
        return word in text
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text.casefold()) is not None


def _text(video: Video) -> str:
    return " ".join((video.title, video.description, *video.categories))


def _first_app(video: Video, taxonomy: Taxonomy) -> str | None:
    found = taxonomy.match(video.title) or taxonomy.match(_text(video))
    return found[0].id if found else None
