"""Examines this machine: what is there, what is missing, and what each lack disables."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal

from cuamaster import wiring
from cuamaster.errors import CuamasterError
from cuamaster.records.record import Record
from cuamaster.settings import Settings

GIB = 1 << 30
MIN_DISK_GIB, MIN_MEMORY_GIB = 6, 3


class Finding(Record):
    """One thing looked at; `disables` says what does not work without it, `needed` whether the main job then cannot run."""

    name: str
    status: Literal["ok", "missing", "slow"]
    found: str
    disables: str = ""
    needed: bool = False


PROGRAMS = (
    ("ffmpeg", "ffmpeg", "reading any recording"),
    ("qemu-system-x86_64", "qemu-system-x86", "every real desktop: prove, certify, collect"),
    ("qemu-img", "qemu-utils", "every real desktop: prove, certify, collect"),
    ("mmdebstrap", "mmdebstrap", "building guest images (a built one still runs)"),
    ("mke2fs", "e2fsprogs", "building guest images (a built one still runs)"),
    ("cc", "gcc libxcb1-dev", "building guest images (a built one still runs)"),
)
PACKAGES = (
    ("libvirt-python", "every real desktop: prove, certify, collect"),
    ("rapidocr", "reading screens: reconstruct, prove, certify, collect"),
    ("faster-whisper", "videos without captions"),
    ("yt-dlp", "provider ytdlp"),
    ("prefect", "scheduled runs; `cuamaster flywheel run` works without"),
)


def examine(settings: Settings) -> list[Finding]:
    """All findings; the KVM probe boots a kernel and takes up to 15 s once per boot of this machine."""
    return [
        *(_program(*item) for item in PROGRAMS),
        *(_package(*item) for item in PACKAGES),
        *_guarded("speech model", "videos without captions", lambda: _speech(settings)),
        *_guarded("guest image", "desktops, until `cuamaster image build`", lambda: _image(settings)),
        *_script_engine(settings),
        *_room(settings),
        *_guarded("desktop slots", "every desktop: prove, certify, collect", lambda: _slots(settings)),
        *_endpoint(settings),
    ]


def _program(name: str, package: str, disables: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name=name, status="missing", found=f"apt-get install {package}", disables=disables, needed=True)
    option = "-version" if name == "ffmpeg" else "-V" if name == "mke2fs" else "--version"
    done = subprocess.run([path, option], capture_output=True, text=True, check=False, timeout=20)
    version = re.search(r"\d+(\.\d+)+", done.stdout or done.stderr)
    return Finding(name=name, status="ok", found=version.group() if version else path)


def _package(name: str, disables: str) -> Finding:
    try:
        return Finding(name=name, status="ok", found=importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(
            name=name, status="missing", found=f"pip install {name}", disables=disables, needed=name != "prefect"
        )


def _guarded(name: str, disables: str, look: Callable[[], Iterator[Finding]]) -> list[Finding]:
    try:
        return list(look())
    except (CuamasterError, ImportError) as exc:
        return [Finding(name=name, status="missing", found=str(exc), disables=disables)]


def _speech(settings: Settings) -> Iterator[Finding]:
    *_, recognizer = wiring.transcribers(settings)
    yield Finding(name="speech model", status="ok", found=recognizer.name)


def _image(settings: Settings) -> Iterator[Finding]:
    image = wiring.image_builder(settings).find(settings.image)
    if image is None:
        yield Finding(
            name=f"image {settings.image}", status="missing", found="not built yet", disables="built at first use"
        )
        yield Finding(name="kvm", status="slow", found="not probed: the probe boots the guest image's kernel")
        return
    yield Finding(name=f"image {settings.image}", status="ok", found=f"{image.digest[:12]} in {image.folder}")
    if "shell" not in image.capabilities:
        yield Finding(
            name="guest agent", status="missing", found="none: screen, mouse, keyboard and snapshots work",
            disables="commands, files, windows, starting applications, and tasks that need them",
        )  # fmt: skip
    works = wiring.probe_kvm(image, settings)
    if works is None:
        yield Finding(
            name="kvm", status="slow", found="not probed, so emulation is used: the probe boots a built image's kernel",
            disables="speed, until `cuamaster image build`",
        )  # fmt: skip
    elif works:
        yield Finding(name="kvm", status="ok", found="boots a kernel")
    else:
        yield Finding(
            name="kvm", status="slow", found="does not boot a kernel: emulation (TCG) is used", disables="speed"
        )


def _script_engine(settings: Settings) -> Iterator[Finding]:
    """yt-dlp runs YouTube's own scripts to find its formats: any of these engines will do."""
    if "ytdlp" in settings.providers:
        found = next((name for name in ("deno", "node", "bun", "qjs") if shutil.which(name)), None)
        yield Finding(
            name="script engine", status="ok" if found else "missing", found=found or "apt-get install nodejs", disables="" if found else "most formats of YouTube"
        )  # fmt: skip


def _room(settings: Settings) -> Iterator[Finding]:
    for name, path in (("workspace", settings.workspace), ("cache", settings.cache)):
        there = next(folder for folder in (path.resolve(), *path.resolve().parents) if folder.exists())
        free = shutil.disk_usage(there).free / GIB
        ok = free >= MIN_DISK_GIB and os.access(there, os.W_OK)
        yield Finding(
            name=f"disk for {name}", status="ok" if ok else "missing", found=f"{free:.1f} GiB free at {there}",
            disables="" if ok else f"a round: {MIN_DISK_GIB} GiB and write access are needed", needed=not ok,
        )  # fmt: skip
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") / GIB
    ok = memory >= MIN_MEMORY_GIB
    yield Finding(
        name="memory", status="ok" if ok else "slow", found=f"{memory:.1f} GiB free", disables="" if ok else "several guests at once"
    )  # fmt: skip


def _slots(settings: Settings) -> Iterator[Finding]:
    held = wiring.leases(settings).held()
    where = "PostgreSQL" if settings.leases_url else "this machine"
    flows = ", ".join(f"{count} by {flow}" for flow, count in sorted(Counter(lease.flow for lease in held).items()))
    found = (
        f"{settings.desktop_capacity} here, {len(held)} leased in the table of {where}{f': {flows}' if flows else ''}"
    )
    yield Finding(name="desktop slots", status="ok", found=found)
    for lease in held:
        yield Finding(name=f"lease {lease.host} {lease.slot}", status="ok", found=f"{lease.owner} for {lease.flow}")


def _endpoint(settings: Settings) -> Iterator[Finding]:
    if settings.api_base:
        yield Finding(
            name="model endpoint", status="ok", found=f"{settings.api_base} ({settings.api_model or 'no model named'})"
        )
    else:
        yield Finding(
            name="model endpoint", status="missing", found="set CUAMASTER_API_BASE",
            disables="annotator and policy openai_api; the embedded ones work without",
        )  # fmt: skip
