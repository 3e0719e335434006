"""Videos as found, the media that was fetched for them, and what was judged of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cuamaster.records.chapters import Chapter
from cuamaster.records.condition import Condition
from cuamaster.records.record import Record, content_id


class Query(Record):
    """One search to run: an application's name, an action word, and the provider that runs it."""

    text: str
    app: str
    provider: str
    language: str = "en"
    limit: int = Field(default=20, ge=1, description="results wanted")
    offset: int = Field(
        default=0, ge=0, description="results to leave out before those: an earlier round has seen them"
    )


class Video(Record):
    """One candidate as its source describes it; unknown facts are None, never guessed."""

    source: str = Field(description="extractor or provider name, e.g. youtube, bilibili, local, rss")
    source_id: str = Field(description="the source's own id; with `source` the identity for dedup")
    url: str
    title: str
    description: str = ""
    uploader: str | None = None
    duration: float | None = Field(default=None, description="seconds")
    upload_date: str | None = Field(default=None, description="YYYY-MM-DD")
    language: str | None = None
    license: str | None = None
    categories: tuple[str, ...] = ()
    availability: str | None = None
    view_count: int | None = None
    app: str | None = Field(default=None, description="taxonomy id of the application it was found for")
    query: str | None = None
    chapters: tuple[Chapter, ...] = Field(
        default=(), description="as the source lists them, apart from the description"
    )

    @property
    def id(self) -> str:
        """Content id of the source identity."""
        return content_id("video", self.source, self.source_id)


class MediaInfo(Record):
    """What ffprobe says of a file: seconds, frames per second, pixels."""

    duration: float
    fps: float
    width: int
    height: int
    has_audio: bool
    has_video: bool = True
    chapters: tuple[Chapter, ...] = Field(default=(), description="kept in the file itself")

    def within(self, longest: int) -> tuple[int, int]:
        """Width and height scaled down, if need be, so that none is over `longest`."""
        scale = min(1.0, longest / max(self.width, self.height))
        return max(1, round(self.width * scale)), max(1, round(self.height * scale))


class Media(Record):
    """A fetched video: paths on this machine, captions by language, probed facts."""

    video_id: str
    path: str
    sha256: str
    captions: tuple[str, ...] = Field(default=(), description="caption files, best first")
    info: MediaInfo
    license: str | None = Field(default=None, description="as the video's own page says it; as are the next two")
    uploader: str | None = None
    upload_date: str | None = Field(default=None, description="YYYY-MM-DD")


class Fingerprint(Record):
    """What a recording looks like: seconds, and a hash of each of some frames spread over it."""

    video_id: str
    duration: float
    frames: tuple[str, ...]


class Reading(Record):
    """What the second reader says of a title and description about which the embedded scorer is undecided."""

    video_id: str
    likely: float = Field(description="probability to be a tutorial; stands in for the scorer's")
    kind: str = Field(description="what it is if it is no tutorial")


class Opinion(Record):
    """What a model said of a title and description about which the embedded scorer is undecided."""

    video_id: str
    tutorial: bool
    kind: str = Field(description="what it is if it is no tutorial: a kind of the scorer, or a word of the model's own")
    reason: str
    annotator: str


PixelBox = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels, the last two exclusive."""


class ScreenView(Record):
    """Where and how much of the time a recording shows a screen, and how well it can be read there."""

    video_id: str
    region: PixelBox = Field(description="the screen in the recording's picture; all later steps see this part only")
    camera: PixelBox | None = Field(
        default=None, description="a presenter's picture on it, painted over by later steps"
    )
    share: float = Field(ge=0, le=1, description="of the moments looked at that show a screen")
    text_height: float = Field(description="pixels, median of the lines that were read")
    confidence: float = Field(ge=0, le=1, description="of the reader in these lines, median")
    language: str = Field(default="", description="of the interface, ISO 639-1; '' when its words do not tell")


class Judgement(Record):
    """Suitability of a video for trajectory reconstruction (seed: 0-5 and three flags)."""

    suitability: int = Field(ge=0, le=5)
    has_computer_operation: bool
    reconstructible: bool
    clear_picture: bool
    reason: str
    annotator: str
    video_id: str = ""


class TaskSegment(Record):
    """One task inside a video: seconds from its start, what is done, with which application, from which state."""

    video_id: str
    index: int
    t_start: float = Field(ge=0)
    t_end: float = Field(gt=0)
    instruction: str
    app: str
    annotator: str
    evidence: str = Field(default="", description="the words or frames that mark the span")
    start_state: tuple[Condition, ...] = Field(default=(), description="what holds before the first operation")
    continues: bool = Field(default=False, description="it begins in the state that the segment before it left")

    @property
    def id(self) -> str:
        """Content id."""
        return content_id("segment", self.video_id, self.index, self.t_start, self.t_end, self.instruction)


Channel = Literal["captions", "speech"]
