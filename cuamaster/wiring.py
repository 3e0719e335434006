"""Turns Settings into ports; the only module that knows the adapters, each imported when it is first wanted."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cuamaster.assets import asset_folder, samples_folder
from cuamaster.errors import InvalidInput
from cuamaster.ports import (
    Annotator,
    DesktopHost,
    DesktopPorts,
    Detector,
    Embedder,
    FrameReader,
    GuestImage,
    ImageBuilder,
    Journal,
    Leases,
    Policy,
    Progress,
    ScreenReader,
    SeedingPorts,
    Store,
    Transcriber,
    VideoSource,
)
from cuamaster.records.primitive import Mode
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.settings import Settings

if TYPE_CHECKING:
    from cuamaster.adapters.chat import ChatClient
    from cuamaster.adapters.meters.jsonl import JsonlMeter
    from cuamaster.adapters.videos.pace import Pace
    from cuamaster.adapters.videos.sites import SiteTable


def store(settings: Settings) -> Store:
    """Blobs of the workspace."""
    from cuamaster.adapters.stores.local import LocalStore

    return LocalStore(settings.workspace / "blobs")


def meter(settings: Settings) -> JsonlMeter:
    """The workspace's ledger of model calls, with the budgets of the settings."""
    from cuamaster.adapters.meters.jsonl import JsonlMeter

    return JsonlMeter(
        settings.workspace / "usage.jsonl",
        budget_usd=settings.api_budget_usd,
        budget_tokens=settings.api_budget_tokens,
    )


def _chat(settings: Settings, on_meter: JsonlMeter) -> ChatClient:
    from cuamaster.adapters.chat import ChatClient

    if not settings.api_base or not settings.api_model:
        raise InvalidInput("openai_api needs an endpoint", hint="set CUAMASTER_API_BASE and CUAMASTER_API_MODEL")
    return ChatClient(
        settings.api_base,
        settings.api_key,
        settings.api_model,
        settings.api_timeout_s,
        on_meter.record,
        price_prompt=settings.api_price_prompt,
        price_completion=settings.api_price_completion,
        before_call=on_meter.check,
    )


def reader(settings: Settings) -> ScreenReader:
    """OCR with a cache of what was read before."""
    from cuamaster.adapters.screens.rapidocr import RapidOcrReader

    return RapidOcrReader(settings.cache / "ocr")


def embedder() -> Embedder:
    """Meaning of texts by the embedded MiniLM."""
    from cuamaster.adapters.embedders.minilm import MiniLmEmbedder

    return MiniLmEmbedder()


def title_embedder() -> Embedder:
    """Meaning of titles in many languages by the embedded multilingual-e5-small."""
    from cuamaster.adapters.embedders.e5 import E5Embedder

    return E5Embedder()


def _live(settings: Settings) -> ScreenReader:
    """For desktops: reads only what changed since one of the last screens."""
    from cuamaster.adapters.screens.live import LiveReader
    from cuamaster.adapters.screens.rapidocr import RapidOcrReader

    return LiveReader(RapidOcrReader(settings.cache / "ocr"))


def frames() -> FrameReader:
    """Decoding by ffmpeg."""
    from cuamaster.adapters.frames.ffmpeg import FfmpegFrames

    return FfmpegFrames()


def sources(settings: Settings, places: Sequence[str] = ()) -> tuple[VideoSource, ...]:
    """The wanted providers; `places` (folders, files, feeds, addresses) instead of the settings' ones; without any, the bundled tutorials.

    Folders together are one source; every feed, address and search engine is one by itself.
    """
    found: list[VideoSource] = []
    pages = [place for place in places if is_page(place)]
    if "local" in settings.providers or places:
        from cuamaster.adapters.videos.local import LocalVideos
        from cuamaster.adapters.videos.web import Web

        given = [place for place in places or settings.videos or [str(samples_folder())] if place not in pages]
        web = Web(_pace(settings), proxy=settings.ytdlp_proxy)
        apart = [place for place in given if "://" in place]
        together = [place for place in given if place not in apart]
        for group in ([together] if together else []) + [[place] for place in apart]:
            found.append(LocalVideos(group, language=settings.language, web=web))
    if pages or ("ytdlp" in settings.providers and not places):
        found += _ytdlp(settings, pages)
    return tuple(found)


def is_page(place: str) -> bool:
    """Whether an address is more likely a page of a video or account than a feed."""
    address = urlsplit(place)
    feed = r"\.(?:xml|rss|atom|rdf|json)$|(?:^|[/._-])(?:feeds?|rss|atom)(?:[/._-]|$)"
    return address.scheme in ("http", "https") and re.search(feed, address.path.lower()) is None


def _ytdlp(settings: Settings, pages: Sequence[str]) -> list[VideoSource]:
    from cuamaster.adapters.videos.lists import addresses
    from cuamaster.adapters.videos.ytdlp import SEARCH_KEYS, Downloads, YtdlpVideos

    downloads = Downloads(
        _pace(settings), languages=tuple(dict.fromkeys((settings.language, *settings.search_languages))),
        archive=settings.workspace / "downloads.txt", max_seconds=settings.max_duration_s,
        cookies=settings.ytdlp_cookies, proxy=settings.ytdlp_proxy, rate_limit=settings.ytdlp_rate_limit,
    )  # fmt: skip
    listed = [YtdlpVideos(downloads, address=place) for place in pages or addresses(settings.ytdlp_places)]
    names = settings.ytdlp_search
    if names is None:
        names = () if listed else tuple(SEARCH_KEYS)
    searched = (
        [] if pages else [YtdlpVideos(downloads, name=name, search_key=SEARCH_KEYS.get(name, name)) for name in names]
    )
    return [*listed, *searched]


def _pace(settings: Settings) -> Pace:
    from cuamaster.adapters.videos.pace import Pace

    return Pace(sites(settings), settings.site_gaps)


def sites(settings: Settings) -> SiteTable:
    """What this machine knows of the sites it asks."""
    from cuamaster.adapters.videos.sites import SiteTable

    return SiteTable(settings.cache / "sites.sqlite")


def transcribers(settings: Settings) -> tuple[Transcriber, ...]:
    """Captions first, then speech recognition."""
    from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper
    from cuamaster.adapters.transcribers.sidecar import Sidecar

    return Sidecar(settings.language), FasterWhisper(settings.whisper_model, language=settings.language)


def annotator(settings: Settings, taxonomy: Taxonomy) -> Annotator:
    """The embedded rules, or a model behind an OpenAI-compatible endpoint."""
    if settings.annotator == "openai_api":
        from cuamaster.adapters.annotators.openai_api import OpenAIAnnotator

        return OpenAIAnnotator(_chat(settings, meter(settings)), taxonomy)
    from cuamaster.adapters.annotators.rules import RulesAnnotator

    return RulesAnnotator(taxonomy)


def seeding_ports(settings: Settings, taxonomy: Taxonomy, places: Sequence[str] = ()) -> SeedingPorts:
    """What the stages from search to reconstruction need."""
    return SeedingPorts(
        sources=sources(settings, places),
        frames=frames(),
        transcribers=transcribers(settings),
        annotator=annotator(settings, taxonomy),
        embedder=title_embedder(),
        reader=reader(settings),
        store=store(settings),
    )


def image_builder(settings: Settings) -> ImageBuilder:
    """Builds guest images from the recipes that ship."""
    from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder

    return MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache, own=settings.images)


def image_list(settings: Settings) -> list[dict[str, str]]:
    """Images there are recipes for: name, tag, whether built, capabilities; a recipe that is wrong says what is wrong."""
    from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder

    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache, own=settings.images)
    rows = []
    for name in builder.names():
        try:
            recipe, image = builder.recipe(name), builder.find(name)
        except InvalidInput as exc:
            rows.append({"name": name, "tag": "", "status": "wrong", "capabilities": exc.message})
            continue
        built = "built" if image is not None else "not built"
        told = ", ".join(sorted(recipe.capabilities))
        rows.append({"name": name, "tag": recipe.tag, "status": built, "capabilities": told})
    return rows


def probe_kvm(image: GuestImage, settings: Settings) -> bool | None:
    """Whether KVM really boots a kernel here; remembered until this machine reboots. None: there is no kernel to try it with."""
    from cuamaster.adapters.desktops.kvm_probe import kernel_for
    from cuamaster.adapters.desktops.kvm_probe import probe_kvm as probe

    kernel = kernel_for(image.folder, settings.cache)
    return None if kernel is None else probe(kernel, settings.cache)


def leases(settings: Settings) -> Leases:
    """The table of desktop slots: the machine's, the workspace's for simulated desktops, or many machines' in PostgreSQL."""
    if settings.leases_url:
        from cuamaster.adapters.leases.postgres import PostgresLeases

        return PostgresLeases(settings.leases_url)
    from cuamaster.adapters.leases.sqlite import SqliteLeases

    folder = settings.workspace if settings.desktop == "simulated" else settings.cache
    return SqliteLeases(folder / "leases.sqlite")


@contextmanager
def desktop_ports(settings: Settings, progress: Progress | None = None) -> Iterator[DesktopPorts]:
    """What the stages on desktops need; leaving the block ends every desktop. Raises HostBusy, MissingDependency."""
    host, image = _pool(settings, progress)
    screen, blobs = _live(settings), store(settings)
    ledger = meter(settings)
    try:
        yield DesktopPorts(
            host=host,
            image=image,
            reader=screen,
            store=blobs,
            oracle=lambda mode: _replay(screen, mode),
            policy=lambda episode_id, err: _policy(settings, screen, blobs, ledger, episode_id, err),
            journal=lambda episode_id: _journal(settings, episode_id),
            detector=lambda embedded: _detector(settings, blobs, ledger, embedded),
        )
    finally:
        host.close()


def _pool(settings: Settings, progress: Progress | None) -> tuple[DesktopHost, GuestImage]:
    from cuamaster.adapters.desktops.pool import DesktopPool, Member

    table = leases(settings)
    hosts, image = _simulated(settings) if settings.desktop == "simulated" else _libvirt(settings, progress)
    members = [
        Member(_shared_name(settings, host.uri), made, host.capacity)
        for host, made in zip(settings.desktop_hosts, hosts, strict=True)
    ]
    pool = DesktopPool(
        members, table, flow=settings.flow or str(settings.workspace.resolve()),
        ttl=settings.lease_ttl_s, patience=settings.lease_patience_s,
    )  # fmt: skip
    return pool, image


def _shared_name(settings: Settings, uri: str) -> str:
    """The name under which collectors share a host's slots: this machine and the address."""
    return f"{socket.gethostname()}:{uri or ('simulated' if settings.desktop == 'simulated' else 'qemu:///embed')}"


def _simulated(settings: Settings) -> tuple[list[DesktopHost], GuestImage]:
    from cuamaster.adapters.desktops.simulated import SimulatedHost

    given = {"screen": settings.screen_size} if settings.screen_size else {}
    hosts = [SimulatedHost(host.capacity, **given) for host in settings.desktop_hosts]
    return [*hosts], hosts[0].guest_image(settings.image)


def _libvirt(settings: Settings, progress: Progress | None) -> tuple[list[DesktopHost], GuestImage]:
    from cuamaster.adapters.desktops.libvirt_domain import require_qemu
    from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
    from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder

    require_qemu()  # a daemon's guests are made here too: say so before minutes of image build
    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache, own=settings.images)
    image = builder.build(settings.image, progress)
    return [
        LibvirtHost(
            builder,
            settings.cache,
            uri=host.uri,
            capacity=host.capacity,
            screen=settings.screen_size,
            progress=progress,
        )
        for host in settings.desktop_hosts
    ], image


def _replay(screen: ScreenReader, mode: Mode) -> Policy:
    from cuamaster.adapters.policies.replay import ReplayPolicy

    return ReplayPolicy(screen, mode)


def _policy(
    settings: Settings, screen: ScreenReader, blobs: Store, ledger: JsonlMeter, episode_id: str, err: bool
) -> Policy:
    policy: Policy
    if settings.policy == "openai_api":
        from cuamaster.adapters.policies.openai_api import OpenAIPolicy

        policy = OpenAIPolicy(_chat(settings, ledger), blobs, settings.mode, speaks=settings.dialect)
    else:
        policy = _replay(screen, settings.mode)
    if not err:
        return policy
    from cuamaster.adapters.policies.faulty import FaultyPolicy

    return FaultyPolicy(policy, seed=settings.seed, rate=settings.fault_rate, episode_id=episode_id)


def _detector(settings: Settings, blobs: Store, ledger: JsonlMeter, embedded: Detector) -> Detector:
    if settings.detector == "rules":
        return embedded
    from cuamaster.adapters.detectors.openai_api import OpenAIDetector

    return OpenAIDetector(_chat(settings, ledger), blobs, embedded)


def _journal(settings: Settings, episode_id: str) -> Journal:
    from cuamaster.adapters.journals.jsonl import JsonlJournal

    return JsonlJournal(settings.workspace / "journals" / f"{episode_id}.jsonl")
