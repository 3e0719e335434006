"""Every knob in one place: environment variables CUAMASTER_*, a `cuamaster.toml` in the working folder, or arguments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

Strategy = Literal["sequential", "parameterized", "state_dependent", "cross_app_handoff"]
"""The composer's strategies."""


def _cache() -> Path:
    return Path.home() / ".cache" / "cuamaster"


class Host(BaseModel):
    """A desktop host; `uri` as libvirt writes it, empty for `qemu:///embed` under the cache."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    uri: str = ""
    capacity: int = Field(default=1, ge=1, description="guests at once")

    @field_validator("uri")
    @classmethod
    def _of_this_machine(cls, uri: str) -> str:
        if urlsplit(uri).netloc:
            raise ValueError("guests run on the collector's own machine: start one there, leases_url lets them share")
        return uri


class Settings(BaseSettings):
    """Validated settings; nothing is read from or written to outside `workspace` and `cache` (and what you point at)."""

    model_config = SettingsConfigDict(env_prefix="CUAMASTER_", toml_file="cuamaster.toml", extra="forbid", frozen=True)

    workspace: Path = Field(
        default=Path("workspace"), description="folder that rounds, blobs, journals and exports are written to"
    )
    cache: Path = Field(
        default_factory=_cache,
        description="folder of guest images, desktops and what is known of sites; of this machine, and shared by its workspaces",
    )
    language: str = Field(default="en", description="language of captions, speech and, unless told otherwise, searches")
    seed: int = Field(default=0, description="of every draw: plans, composed tasks, faults on purpose")

    videos: tuple[str, ...] = Field(
        default=(), description="folders, recordings or feeds of provider `local`; empty: the bundled tutorials"
    )
    providers: tuple[Literal["local", "ytdlp"], ...] = Field(
        default=("local",), description="where videos come from: what is at hand or in feeds, and what yt-dlp reaches"
    )
    search_languages: tuple[str, ...] = Field(default=(), description="languages to search in; empty: `language`")
    round_searches: int = Field(default=200, ge=1, description="search requests that a round may send")
    min_duration_s: float = Field(default=15.0, description="a shorter video is dropped")
    max_duration_s: float = Field(default=3600.0, description="a longer video is dropped")
    ytdlp_places: tuple[str, ...] = Field(
        default=(), description="addresses of videos, accounts, playlists, or files with one a line"
    )
    ytdlp_search: tuple[str, ...] | None = Field(
        default=None,
        description="sites to search: youtube, bilibili, or a search key of yt-dlp; None: both, or none if there are ytdlp_places",
    )
    ytdlp_rate_limit: int | None = Field(default=None, gt=0, description="bytes per second of a download")
    ytdlp_cookies: Path | None = Field(default=None, description="file in Netscape format; read, never written")
    ytdlp_proxy: str | None = Field(
        default=None, description="address of a proxy for all sites; for feeds it must be http"
    )
    site_gaps: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict,
        description='seconds between two requests to a site, e.g. {"youtube.com": 2}; "*": all others',
    )
    site_patience_s: float = Field(
        default=600.0,
        ge=0,
        description="how long a stage waits for a site that is left alone before it goes on without it",
    )

    sift_workers: int = Field(
        default=0, ge=0, description="processes that sketch and screen many candidates; 0: as many as there are cores"
    )

    whisper_model: Path | None = Field(
        default=None, description="folder of a CTranslate2 model; None: the embedded tiny.en"
    )
    annotator: Literal["rules", "openai_api"] = Field(
        default="rules",
        description="who mines tasks and reads narration: the embedded rules, or a model at the endpoint",
    )
    round_readings: int = Field(
        default=6000,
        ge=0,
        description="titles of a round, nearest to undecided first, that the embedded language model reads again (about 50 a second and core)",
    )
    round_opinions: int = Field(
        default=200, ge=0, description="titles of a round, nearest to undecided first, on which openai_api is asked"
    )
    policy: Literal["replay", "openai_api"] = Field(
        default="replay", description="who acts in collection: the primitives' procedures, or a model at the endpoint"
    )
    detector: Literal["rules", "openai_api"] = Field(
        default="rules",
        description="who finds the first wrong step: rules over the boundaries, or a model at the endpoint",
    )
    dialect: str = Field(
        default="qwen3-vl", description="how the endpoint's policy writes actions: a name of docs/actions.md"
    )
    api_base: str | None = Field(default=None, description="OpenAI-compatible endpoint, e.g. http://host:8000/v1")
    api_key: str = Field(default="none", description="sent to the endpoint with every call")
    api_model: str = Field(default="", description="name of the model at the endpoint")
    api_timeout_s: float = Field(default=120.0, description="longest wait for one answer")
    api_price_prompt: float = Field(default=0.0, description="USD per million prompt tokens")
    api_price_completion: float = Field(default=0.0, description="USD per million completion tokens")
    api_budget_usd: float | None = Field(
        default=None, description="no call is made once the workspace has cost so much; None: no limit"
    )
    api_budget_tokens: int | None = Field(default=None, description="the same in tokens, of prompts and answers")

    trigger_window_s: float = Field(default=2.5, description="T of the pair lattice: |t_sem - t_vis| <= T")

    image: str = Field(default="light-desktop", description="guest image that tasks are composed for and run on")
    images: Path | None = Field(default=None, description="folder of image recipes of your own, one subfolder each")
    observe_elements: bool = Field(
        default=False, description="record the accessibility tree, windows and pointer with each observation"
    )
    desktop: Literal["libvirt", "simulated"] = Field(
        default="libvirt", description="virtual machines, or the simulated desktop that needs none"
    )
    libvirt_uri: str = Field(default="", description="empty: qemu:///embed under the cache")
    screen: str = Field(
        default="",
        pattern=r"^([1-9]\d{2,3}x[1-9]\d{2,3})?$",
        description="size of the desktops' screens, e.g. 1920x1080; empty: the image's",
    )
    vm_capacity: int = Field(default=1, ge=1, description="guests at once on this host")
    hosts: tuple[Host, ...] = Field(
        default=(), description="several desktop hosts: [{uri, capacity}, ...]; empty: libvirt_uri with vm_capacity"
    )
    leases_url: str = Field(
        default="",
        description="postgresql://... shared by many machines; empty: a file in the cache (of simulated desktops: the workspace)",
    )
    lease_ttl_s: float = Field(
        default=60.0, ge=1, description="a desktop not renewed for so long is another collector's"
    )
    lease_patience_s: float = Field(default=3600.0, ge=0, description="longest wait for a free desktop")
    flow: str = Field(default="", description="whose share of the desktops is used; empty: the workspace's")
    mode: Literal["gui", "cli", "mixed"] = Field(
        default="gui", description="actions of composed tasks and their policies: pointer and keyboard, shell, or both"
    )

    min_primitives: int = Field(default=2, ge=1, description="smallest number K of primitives in a composed task")
    max_primitives: int = Field(default=4, ge=1, description="largest number K of primitives in a composed task")
    strategies: dict[Strategy, Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]] = Field(
        default_factory=lambda: dict.fromkeys(get_args(Strategy), 1.0),
        description='how tasks are composed, and in which shares, e.g. {"sequential": 1, "cross_app_handoff": 3}: what is not named is left out',
    )
    round_videos: int = Field(default=8, ge=1, description="videos wanted in the first round")
    round_tasks: int = Field(
        default=8, ge=1, description="composed tasks wanted in the first round, by all strategies together"
    )
    fault_share: float = Field(
        default=0.34, ge=0, le=1, description="share of tasks collected with a policy that errs on purpose (0: none)"
    )
    fault_rate: float = Field(
        default=0.4, ge=0, le=1, description="share of primitives in which that policy errs, at least one a task"
    )
    max_steps: int = Field(default=60, description="steps of an episode, over all its attempts and branches")
    max_retries: int = Field(default=4, description="rollbacks of an episode")
    branches: int = Field(
        default=1, ge=1, description="branches tried side by side from where the first failure is rolled back to"
    )
    max_seconds: float = Field(default=900.0, description="seconds of an episode")

    @property
    def screen_size(self) -> tuple[int, int] | None:
        """Width and height in pixels, or None for the image's own."""
        width, _, height = self.screen.partition("x")
        return (int(width), int(height)) if height else None

    @property
    def desktop_hosts(self) -> tuple[Host, ...]:
        """The hosts that desktops come from, one at least."""
        return self.hosts or (Host(uri=self.libvirt_uri, capacity=self.vm_capacity),)

    @property
    def desktop_capacity(self) -> int:
        """Desktops at once on all hosts."""
        return sum(host.capacity for host in self.desktop_hosts)

    @field_validator("strategies")
    @classmethod
    def _one_at_least(cls, strategies: dict[Strategy, float]) -> dict[Strategy, float]:
        if not any(strategies.values()):
            raise ValueError(f"give at least one of {', '.join(get_args(Strategy))} a share above 0")
        return strategies

    @field_validator("hosts")
    @classmethod
    def _one_embed_root(cls, hosts: tuple[Host, ...]) -> tuple[Host, ...]:
        """A process has one embedded driver, and no host twice."""
        embedded = [host.uri for host in hosts if not host.uri or "/embed" in host.uri]
        if len(embedded) > 1 or len({host.uri for host in hosts}) < len(hosts):
            raise ValueError("at most one embedded host, and every host once")
        return hosts

    @field_validator("leases_url")
    @classmethod
    def _postgres(cls, url: str) -> str:
        if url and not url.startswith(("postgresql://", "postgres://")):
            raise ValueError("a postgresql:// address, or empty for a file of this machine")
        return url

    @field_validator("workspace", "cache")
    @classmethod
    def _folder(cls, path: Path) -> Path:
        """A file on the way would only be met at the first write."""
        there = next((place for place in (path, *path.parents) if os.path.lexists(place)), path)
        if os.path.lexists(there) and not os.path.isdir(there):  # noqa: PTH112  no error for what may not be entered
            raise ValueError(f"{there} is a file, not a folder")
        return path

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  pydantic calls by keyword
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, the environment over cuamaster.toml."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)
