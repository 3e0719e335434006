"""Every error cuamaster raises on purpose, as one tree: Terminal (do not try again) or Transient (a retry may help).

CuamasterError
|-- Terminal                    the same call will fail again
|   |-- InvalidInput            something the user wrote: names file, line, field
|   |   |-- InvalidAction       an action outside the action space
|   |   |   |-- UnreadableAnswer    a model's words that are no action of its dialect: names dialect and offset
|   |   |   `-- Inexpressible       an action that a dialect has no words for
|   |   |-- UnknownName         an application, image, primitive, video ... nobody knows
|   |   `-- Unmappable          a record of somebody else's dataset that has no counterpart here
|   |-- MediaError              a recording that cannot be used
|   |-- ModelAnswerError        a model endpoint answered, but not with what was asked
|   |-- ModelRefusal            a model endpoint declined
|   |-- MissingDependency       a program, package or model folder that is not there
|   |-- MissingCapability       something a desktop's image cannot do: names the capability
|   |-- ImageBuildError         a step of a guest image's build failed
|   |-- BudgetExceeded          steps, seconds, tokens or money are spent
|   |-- StoreFull               the disk under the workspace is full
|   |-- StoreUnwritable         the workspace or cache may not be written: read-only, no permission, no folder
|   `-- IntegrityError          stored data is not what its name or manifest says
`-- Transient                   the world may be kinder next time
    |-- EndpointUnavailable     a model endpoint: 429, 5xx, no answer
    |-- SourceUnavailable       a video site or feed did not answer, or is left alone for a while
    |-- FolderBusy              another process is writing the same folder
    |-- DecoderStarved          a recording was not decoded in time because the machine or its disk had none for it
    `-- DesktopFault            infrastructure: says nothing about the policy
        |-- GuestUnresponsive   the agent or the screen does not answer
        |-- GuestDied           the virtual machine is gone
        |-- ConnectionLost      libvirt itself went away; its machines may still run
        |-- NoRoom              the host's disk is full: a snapshot or a guest's own writes do not fit
        |-- BadFrame            black, stale, truncated or wrong-sized picture
        |-- HostBusy            another process holds this desktop host, or no capacity
        |-- LeaseLost           the right to a desktop ran out while it was used
        |-- SetupFailed         the start state could not be reached
        |-- CheckFailed         a condition could not be evaluated (never "false")
        `-- StateDrift          a restored or live state is not the one attested
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from os import PathLike


class CuamasterError(Exception):
    """Base of all; `hint` says what the user can do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message} ({hint})")
        self.message = message
        self.hint = hint


class Terminal(CuamasterError):
    """Trying the same thing again gives the same result."""


class InvalidInput(Terminal, ValueError):
    """User-supplied data is wrong; the message names where."""


class InvalidAction(InvalidInput):
    """An action outside the action space; `field` is the argument at fault."""

    def __init__(self, message: str, *, field: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field


class UnreadableAnswer(InvalidAction):
    """Words that cannot be read as actions of a dialect; `offset` counts characters from the answer's begin."""

    def __init__(self, message: str, *, dialect: str, offset: int, field: str, hint: str | None = None) -> None:
        super().__init__(f"{dialect}, character {offset}: {message}", field=field, hint=hint)
        self.dialect = dialect
        self.offset = offset


class Inexpressible(InvalidAction):
    """An action that cannot be said in a dialect, or only with a loss; `field` is what has no words."""

    def __init__(self, message: str, *, dialect: str, field: str, hint: str | None = None) -> None:
        super().__init__(f"{dialect} {message}", field=field, hint=hint)
        self.dialect = dialect


class UnknownName(InvalidInput):
    """A name that no registry, library or folder knows."""


class Unmappable(InvalidInput):
    """A record of another dataset that has no counterpart here; `reason` is a stable slug, `names` what it is about."""

    def __init__(self, message: str, *, reason: str, names: tuple[str, ...] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        self.names = names


class MediaError(Terminal):
    """A recording that cannot be used; `reason` is a stable slug such as `no-video-stream`."""

    def __init__(self, message: str, *, reason: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class ModelAnswerError(Terminal):
    """A model answered with something that is not the asked structure, twice."""


class ModelRefusal(Terminal):
    """A model declined to answer."""


class MissingDependency(Terminal):
    """A program, package or model that this machine lacks."""


class MissingCapability(Terminal):
    """A desktop was asked for what its image cannot do; `capability` is what is missing."""

    def __init__(self, message: str, *, capability: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.capability = capability


class ImageBuildError(Terminal):
    """A step of a guest image's build failed; the message carries its last lines and the log's path."""


class BudgetExceeded(Terminal):
    """A budget of steps, seconds, tokens or money is spent."""


class StoreFull(Terminal, OSError):
    """No space left where the workspace lives; nothing half-written is kept."""


class StoreUnwritable(Terminal, OSError):
    """The place to write to is read-only, forbidden, or a file where a folder must be; nothing was written."""


class IntegrityError(Terminal):
    """Stored bytes differ from what their name or manifest promises."""


class Transient(CuamasterError):
    """May succeed when tried again."""


class EndpointUnavailable(Transient):
    """A model endpoint did not give an answer: rate limit, server error, time-out."""


class SourceUnavailable(Transient):
    """A video source did not answer. `until` (epoch seconds): when it may be asked again; `site`: who is left alone till then; `reason`: a slug."""

    def __init__(
        self,
        message: str,
        *,
        reason: str = "unreachable",
        site: str | None = None,
        until: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        self.site = site
        self.until = until


class FolderBusy(Transient):
    """Another process is writing the folder and did not finish in time."""


class DecoderStarved(Transient):
    """A decoder got neither far nor much of the processor: says nothing about the recording."""


class DesktopFault(Transient):
    """The machinery failed, not the policy: never reward, never training data."""


class GuestUnresponsive(DesktopFault):
    """The guest agent or display did not answer before the deadline."""


class GuestDied(DesktopFault):
    """The virtual machine process is gone."""


class ConnectionLost(DesktopFault):
    """The connection to libvirt is gone; what it ran may still run."""


class NoRoom(DesktopFault):
    """The disk of the desktop's host is full; dropping a snapshot may help."""


class BadFrame(DesktopFault):
    """A screenshot that must not become an observation; `reason` is black|stale|truncated|size."""

    def __init__(self, message: str, *, reason: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class HostBusy(DesktopFault):
    """The host has no capacity left, or another process owns it (the message names its pid)."""


class LeaseLost(DesktopFault):
    """The right to a desktop was not renewed in time: it is closed and its slot may be another collector's."""


class SetupFailed(DesktopFault):
    """A task's start state could not be established."""


class CheckFailed(DesktopFault):
    """A condition could not be evaluated, so it is neither true nor false."""


class StateDrift(DesktopFault):
    """A restored or live state differs from the one attested."""


_FULL = (errno.ENOSPC, errno.EDQUOT)
_UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST)


def storage_fault(fault: OSError, place: str | PathLike[str]) -> OSError:
    """What an error of the file system while writing under `place` means: StoreFull, StoreUnwritable, or the error itself."""
    if isinstance(fault, CuamasterError):
        return fault
    if fault.errno in _FULL:
        return StoreFull(f"no space left under {place}", hint="free some space and run again; it resumes")
    if fault.errno in _UNWRITABLE:
        return StoreUnwritable(
            f"cannot write {fault.filename or place}: {fault.strerror}", hint="give a folder that may be written"
        )
    return fault


@contextlib.contextmanager
def storing(place: str | PathLike[str]) -> Iterator[None]:
    """Around everything that writes under `place`: raises StoreFull and StoreUnwritable for what the file system says."""
    try:
        yield
    except OSError as exc:
        fault = storage_fault(exc, place)
        if fault is exc:
            raise
        raise fault from exc
