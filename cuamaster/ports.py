"""The Protocols through which the pure rooms reach the world, on one page; adapters implement them, wiring chooses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cuamaster.action_space import CUAAction
from cuamaster.records.episode import Boundary, Node, Receipt, Usage
from cuamaster.records.primitive import Mode
from cuamaster.records.scene import Elements
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, StateSignature, TextBox, Window
from cuamaster.records.transcript import Transcript
from cuamaster.records.verdict import Divergence, Verdict
from cuamaster.records.video import Judgement, Media, MediaInfo, Opinion, Query, TaskSegment, Video

Image = npt.NDArray[np.uint8]
"""A picture: (height, width, 3) RGB."""
Gray = npt.NDArray[np.uint8]
"""A grey picture: (height, width)."""
Progress = Callable[[str, float], None]
"""Called with what is going on and the fraction done, 0-1."""


class Fetched(NamedTuple):
    """A fetched video: the media file, caption files (best first), and the video as its own page describes it."""

    media: Path
    captions: tuple[Path, ...]
    video: Video


class VideoSource(Protocol):
    """Finds and fetches videos. Raises SourceUnavailable (try later), UnknownName, MediaError.

    A provider (`name`) may have several sources; each is asked by itself, so that one that must wait holds up no other.
    """

    name: str

    def search(self, query: Query) -> Iterator[Video]:
        """Metadata of candidates, at most query.limit; a fault of one place is raised after what the others have."""

    def asked(self, query: Query) -> str:
        """What decides the answer besides the query: a search is done again when this has changed."""

    def fetch(self, video: Video, folder: Path) -> Fetched:
        """Download into `folder`; a download that broke off goes on where it stopped, a finished one is reused."""


class Transcriber(Protocol):
    """Turns a fetched video into a transcript, or None when it has nothing to read."""

    name: str

    def transcribe(self, media: Media, *, prompt: str = "") -> Transcript | None:
        """`prompt`: domain words that help recognition."""


@dataclass(frozen=True)
class Candidate:
    """One candidate action boundary under review: times in seconds, the words said, frames just before and after."""

    t: float
    t_semantic: float | None
    t_visual: float | None
    clause: str
    verb: str
    before: Image | None = None
    after: Image | None = None
    changed: tuple[float, float, float, float] | None = None
    score: float = 0.0


@dataclass(frozen=True)
class Review:
    """A reviewer's decision on one candidate."""

    keep: bool
    kind: str = ""
    clause: str = ""
    t: float | None = None
    reason: str = ""


class Annotator(Protocol):
    """Judges videos and mines tasks. Raises ModelAnswerError, ModelRefusal, EndpointUnavailable, BudgetExceeded."""

    name: str

    def tell(self, videos: Sequence[Video]) -> list[Opinion]:
        """Whether title and description promise an operated screen, in order; [] from who knows no more than the scorer."""

    def score(self, video: Video, transcript: Transcript, frames: Sequence[tuple[float, Image]]) -> Judgement:
        """Suitability 0-5 and flags."""

    def mine(self, video: Video, transcript: Transcript, frames: Sequence[tuple[float, Image]]) -> list[TaskSegment]:
        """Task spans with continuous interface state and observable operations."""

    def review(self, candidates: Sequence[Candidate], segment: TaskSegment) -> list[Review]:
        """One decision per candidate, in order."""


@dataclass(frozen=True)
class Glimpse:
    """A moment of a recording: grey pictures of one size, scaled down, the first shown at `t` seconds, the others shortly after it."""

    t: float
    pictures: tuple[Gray, ...]


class FrameReader(Protocol):
    """Decodes recordings. Raises MediaError."""

    def probe(self, path: Path) -> MediaInfo:
        """Facts about a file."""

    def sample(
        self, path: Path, *, fps: float, t_start: float = 0.0, t_end: float | None = None
    ) -> Iterator[tuple[float, Image]]:
        """(seconds, frame) at `fps`."""

    def at(self, path: Path, t: float) -> Image:
        """The frame shown at `t` seconds."""

    def glimpses(self, path: Path, times: Sequence[float], *, count: int, apart: float, longest: int) -> list[Glimpse]:
        """Moments near `times` in order, each once: up to `count` pictures `apart` seconds after one another, their longer side at most
        `longest` pixels.

        Made for a quick look: what is cheap to reach counts, so there may be fewer than asked for, and some seconds earlier.
        """

    def audio(self, path: Path, out: Path) -> Path:
        """16 kHz mono WAV."""


class ScreenReader(Protocol):
    """Reads text on pictures."""

    name: str

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        """Text boxes in pixels of the whole image; region = x0, y0, x1, y1."""


Vectors = npt.NDArray[np.float32]
"""One row a text, each of length 1, so that a dot product is the cosine."""


class Embedder(Protocol):
    """Turns texts into vectors that are close when the texts mean the same. Raises MissingDependency."""

    name: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), dimensions); the same text gives the same vector, whatever stands beside it."""


class Store(Protocol):
    """Content-addressed blobs."""

    def put(self, data: bytes) -> str:
        """Store and return the SHA-256; raises StoreFull."""

    def get(self, digest: str) -> bytes:
        """Bytes of a blob; raises IntegrityError when missing or changed."""

    def has(self, digest: str) -> bool:
        """Whether the blob is there."""


class Meter(Protocol):
    """Usage ledger with budgets; `record` raises BudgetExceeded once a limit is passed."""

    def record(self, usage: Usage) -> None:
        """Append one call."""

    def total(self) -> Usage:
        """Sum so far."""


@dataclass(frozen=True)
class Frame:
    """A screenshot that passed the frame gate: RGB pixels, seconds on the host's monotonic clock."""

    image: Image
    t: float
    active: Window | None = None
    """The focused window with its geometry, filled in by the rollout; None when unknown."""
    windows: tuple[Window, ...] = ()
    """All windows, filled in by the rollout."""

    @cached_property
    def png(self) -> bytes:
        """The pixels as PNG: quick rather than small, the same bytes for the same pixels; made when first asked for."""
        import cv2

        _, buffer = cv2.imencode(".png", cv2.cvtColor(self.image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_PNG_COMPRESSION, 3])
        return buffer.tobytes()


@dataclass(frozen=True)
class ShellResult:
    """Outcome of a shell command in the guest; exit_code None when it was ended by the timeout."""

    stdout: str
    stderr: str
    exit_code: int | None


class Desktop(Protocol):
    """One running desktop. Every method may raise DesktopFault subclasses; nothing is ever re-sent after a time-out."""

    image: str
    image_digest: str
    width: int
    height: int
    capabilities: frozenset[str]
    """Without `shell` all methods that ask inside the guest (shell, launch, files, state) raise MissingCapability."""

    @property
    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels."""

    def act(self, action: CUAAction, action_id: str) -> Receipt:
        """Perform one gui or cli action (wait included; tool.call and finish are the rollout's business)."""

    def release(self) -> None:
        """Let go of every key and button that is held down."""

    def screenshot(self) -> Frame:
        """The screen now, through the frame gate; raises BadFrame."""

    def settle(self, *, timeout: float = 10.0, quiet: float = 0.4) -> Frame:
        """The screen once nothing has changed for `quiet` seconds, or at the deadline."""

    def shell(self, command: str, *, cwd: str | None = None, timeout: float = 60.0) -> ShellResult:
        """Run as the desktop's user, inside its session (DISPLAY, D-Bus)."""

    def launch(self, app: str, args: Sequence[str] = ()) -> None:
        """Start an application of the image and return at once."""

    def read_file(self, path: str) -> bytes | None:
        """Contents, or None when there is no such file; `~` is the user's home."""

    def write_file(self, path: str, data: bytes) -> None:
        """Write as the desktop's user, making parent folders."""

    def state(self, files: Sequence[str] = ()) -> StateSignature:
        """The light state signature, with hashes of the given files."""

    def elements(self, *, most: int = 1000, timeout: float = 3.0) -> Elements:
        """What the screen's programs say is on it, at most so many and in about so many seconds; needs `accessibility`."""

    def snapshot(self, label: str, files: Sequence[str] = ()) -> StateSignature:
        """Save memory and disk under `label`; returns the signature attested at that moment. Raises StateDrift, NoRoom."""

    def rollback(self, label: str) -> StateSignature:
        """Return to a snapshot; raises StateDrift unless the signature is the attested one."""

    def drop_snapshot(self, label: str) -> None:
        """Free a snapshot's space."""

    def snapshot_sizes(self) -> Mapping[str, int]:
        """Bytes on disk of every snapshot that is kept, by label."""

    def fork(self, label: str) -> AbstractContextManager[Desktop]:
        """Another desktop that stands at a snapshot, attested, with all snapshots of this one; ended when the block is left.

        Raises UnknownName, StateDrift, and HostBusy at once when there is no room for one more.
        """

    def close(self) -> None:
        """End the machine and free its disk; safe to call twice."""


class DesktopHost(Protocol):
    """Gives desktops. Closing it ends every desktop it gave."""

    name: str

    def open(self, image: str) -> AbstractContextManager[Desktop]:
        """A fresh desktop from the image's golden snapshot, attested; raises HostBusy, DesktopFault, MissingDependency."""

    def room(self, image: str) -> str | None:
        """Why one more desktop does not fit on the machine now (memory, disk), or None."""

    def close(self) -> None:
        """End everything this host started."""


@dataclass(frozen=True)
class GuestImage:
    """A built guest image on this machine."""

    name: str
    digest: str
    folder: Path
    capabilities: frozenset[str]
    width: int
    height: int


class ImageBuilder(Protocol):
    """Builds guest images from the recipes under vm_snapshots/, cached by content hash."""

    def build(self, name: str, progress: Progress | None = None) -> GuestImage:
        """The image, built if it is not in the cache; raises MissingDependency, UnknownName."""

    def find(self, name: str) -> GuestImage | None:
        """The cached image, or None."""


@dataclass(frozen=True)
class Decision:
    """What a policy wants to do now: a batch of actions with a thought; `use` is the plan index if it has one."""

    actions: tuple[Action, ...]
    thought: str = ""
    use: int | None = None
    injected: bool = False
    done_use: bool = False
    raw: str = ""


class Policy(Protocol):
    """Chooses actions. `history` is the kept path so far; `frame` the current screen; `hint` the last feedback or ''.

    A policy must be a function of its arguments and of what it recorded through `remember`, so that it survives a rollback:
    `state()` is journalled with each snapshot and `restore(state)` called after a rollback.
    """

    name: str
    mode: Mode

    def begin(self, task: Task) -> None:
        """A new episode; only policies that declare it may read task.plan (the replay oracle does)."""

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        """The next batch; a finish action ends the episode."""

    def state(self) -> dict[str, Any]:
        """Plain JSON controller state."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a journalled state."""


class Detector(Protocol):
    """Finds the earliest divergence of a failed or stuck path."""

    name: str

    def locate(
        self,
        task: Task,
        path: Sequence[Node],
        desktop: Desktop,
        boundaries: Sequence[Boundary],
        verdict: Verdict,
        *,
        history: Sequence[Boundary] = (),
    ) -> Divergence:
        """`boundaries`: stable points usable for rollback, oldest first, at least one; `verdict`: what failed just now;
        `history`: every stable point of the path, those that cannot be returned to as well.
        """


class Journal(Protocol):
    """Append-only, fsynced record of what happened; appended before it counts."""

    def append(self, event: Mapping[str, Any]) -> None:
        """Durable when it returns; raises StoreFull."""

    def events(self) -> list[dict[str, Any]]:
        """Everything appended so far; a torn last line is ignored."""


@dataclass(frozen=True)
class Lease:
    """The right of `flow` to one desktop slot until `expires` (seconds on the table's clock) unless renewed."""

    id: str
    host: str
    slot: int
    owner: str
    flow: str
    expires: float


class Leases(Protocol):
    """A table of leases shared by collectors; it keeps its own time. Raises HostBusy when the table does not answer."""

    def acquire(
        self, capacities: Mapping[str, int], *, owner: str, flow: str, ttl: float, request: str, wait: bool = True
    ) -> Lease | None:
        """A free slot of one of the hosts (name -> slots), or None while others come first or all are taken.

        The one who got None keeps its place in the queue as `request` by asking again within seconds, unless not `wait`.
        """

    def withdraw(self, request: str) -> None:
        """Give up waiting; safe to call twice."""

    def renew(self, leases: Sequence[Lease], ttl: float) -> list[Lease]:
        """Extend all of them to `ttl` seconds from now; returns those that are still held."""

    def release(self, lease: Lease) -> None:
        """Give back; safe to call twice."""

    def sweep(self) -> list[Lease]:
        """Remove and return leases that expired or whose owner is dead."""

    def held(self) -> list[Lease]:
        """All leases that have not expired, by host and slot."""


@dataclass(frozen=True)
class SeedingPorts:
    """What the stages from search to reconstruction reach the world through."""

    sources: tuple[VideoSource, ...]
    frames: FrameReader
    transcribers: tuple[Transcriber, ...]
    """In order of preference; the first that returns a transcript is taken."""
    annotator: Annotator
    embedder: Embedder
    """For titles in many languages."""
    reader: ScreenReader
    store: Store


@dataclass(frozen=True)
class DesktopPorts:
    """What the stages that run on desktops reach the world through."""

    host: DesktopHost
    image: GuestImage
    reader: ScreenReader
    store: Store
    oracle: Callable[[Mode], Policy]
    """A policy that follows a task's plan: certificates and replay proofs."""
    policy: Callable[[str, bool], Policy]
    """The policy that is collected, for one episode id; with True it errs on purpose, so that rollback is exercised."""
    journal: Callable[[str], Journal]
    """The journal of one episode, by its id."""
    clock: Callable[[], float] = time.monotonic
    """Seconds of episodes and budgets; never the time of day, which may jump."""
    detector: Callable[[Detector], Detector] = lambda embedded: embedded
    """The detector that collection asks, given the embedded one: itself, or one that falls back on it."""
