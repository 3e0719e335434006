"""Reads a guest image's recipe folder, what it extends included, and names its content by hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from cuamaster.errors import InvalidInput, UnknownName

_NAME = r"^[a-z0-9][a-z0-9-]*$"
_PACKAGE = r"^[a-z0-9][a-z0-9+.-]+$"
_MODULE = r"^[A-Za-z0-9_-]+$"
Package = Annotated[str, Field(pattern=_PACKAGE)]
Module = Annotated[str, Field(pattern=_MODULE)]
Agent = Literal["qemu-ga", "none"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Screen(_Part):
    """Size of the guest's only screen in pixels."""

    width: int = Field(ge=320, le=7680)
    height: int = Field(ge=200, le=4320)


class WarmUp(_Part):
    """An application started, waited for by X window class (case ignored) and closed before the golden snapshot."""

    command: str
    window_class: str


class GuestRecipe(_Part):
    """What a host needs to know of any image; `layers` and `digest` come from where it was read."""

    name: str = Field(pattern=_NAME)
    user: str
    home: str
    screen: Screen
    memory_mib: int = Field(ge=256)
    vcpus: int = Field(ge=1, le=64)
    capabilities: tuple[str, ...]
    warm_up: tuple[WarmUp, ...] = ()
    window_apps: Mapping[str, str] = Field(
        default_factory=dict,
        description="class of a window, lower case -> application, where the program's name is another",
    )
    agent: Agent = "qemu-ga"
    layers: tuple[Path, ...] = Field(min_length=1)
    """The recipe's folder and what it extends, the undermost first."""
    digest: str

    @property
    def folder(self) -> Path:
        """Where the recipe was read."""
        return self.layers[-1]

    @property
    def tag(self) -> str:
        """Name of the built image in the cache: `light-desktop-0123456789ab`."""
        return f"{self.name}-{self.digest[:12]}"

    def can(self, capabilities: Iterable[str]) -> bool:
        """Whether the image has all these capabilities."""
        return set(self.capabilities).issuperset(capabilities)

    def file(self, name: str) -> Path:
        """A file of the topmost layer that has it; raises InvalidInput when none has."""
        for layer in reversed(self.layers):
            if (layer / name).is_file():
                return layer / name
        raise InvalidInput(f"{self.folder / name} is missing")


class ImageRecipe(GuestRecipe):
    """`recipe.yaml` of a Debian guest that is built from packages."""

    suite: str
    arch: str
    disk_mib: int = Field(ge=512)
    kernel_package: Package
    packages: tuple[Package, ...]
    kernel_modules: tuple[Module, ...]
    initrd_modules: tuple[Module, ...]


class OwnRecipe(GuestRecipe):
    """`recipe.yaml` of a disk that somebody brings: Linux, Windows or macOS, with the guest agent or without.

    With `agent: none` nothing inside the guest can be asked: screen, input and snapshots work, everything else is refused.
    """

    kind: Literal["own"]
    disk: Path = Field(description="a qcow2 disk, relative to the recipe's folder; it is only read")
    agent: Agent
    user: str = "user"
    home: str = "/home/user"
    applications: tuple[Annotated[str, Field(pattern=_NAME)], ...] = ()
    capabilities: tuple[str, ...] = ()
    boot_seconds: float = Field(default=600.0, gt=0, description="how long its desktop may take to be drawn")

    @field_validator("capabilities")
    @classmethod
    def _derived(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if value:
            raise ValueError("they follow from `agent` and `applications`")
        return value


DOMAIN_TEMPLATE = "domain.xml"
"""The virtual machine around the image; it is part of the golden snapshot's name, not of the image's."""
_WITH_AGENT = ("agent", "shell", "clipboard")
_JOINED = ("packages", "kernel_modules", "initrd_modules", "capabilities", "warm_up")
"""Lists that an extending recipe adds to; everything else it replaces."""


def folder_digest(folder: Path) -> str:
    """Return the sha256 over path and bytes of every file the image is made from; modes and times do not count."""
    total = hashlib.sha256()
    for path in sorted(item for item in folder.rglob("*") if item.is_file() and item.name != DOMAIN_TEMPLATE):
        total.update(
            f"{path.relative_to(folder).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        )
    return total.hexdigest()


def load_recipe(folder: Path, *, shelf: Path | None = None) -> ImageRecipe | OwnRecipe:
    """Read `folder/recipe.yaml`; raises UnknownName without one, InvalidInput naming file and field when it is wrong.

    `shelf`: where the recipes are that this one may extend; None: beside it.
    """
    path = folder / "recipe.yaml"
    layers, data = _layers(folder, shelf or folder.parent, ())
    try:
        if data.get("kind") == "own":
            if len(layers) > 1:
                raise InvalidInput(f"{path}: extends: a disk of one's own has no packages to add to")
            return _own(data, folder)
        return ImageRecipe(**data, layers=layers, digest=_digest(layers))
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{path}: {where}: {first['msg']}") from exc
    except TypeError as exc:
        raise InvalidInput(f"{path}: {exc}") from exc


def _layers(folder: Path, shelf: Path, above: tuple[Path, ...]) -> tuple[tuple[Path, ...], dict[str, Any]]:
    """The folders below and including this one, and their joined settings."""
    path = folder / "recipe.yaml"
    data = _read(path)
    base = data.pop("extends", None)
    if base is None:
        return (folder,), data
    under = shelf / str(base)
    if not isinstance(base, str) or under == folder or under in above:
        raise InvalidInput(f"{path}: extends: {base!r} is no other image's name")
    layers, joined = _layers(under, shelf, (*above, folder))
    for name, value in data.items():
        there = joined.get(name)
        if name in _JOINED and isinstance(value, list) and isinstance(there, list):
            joined[name] = [*there, *(item for item in value if item not in there)]
        elif isinstance(value, dict) and isinstance(there, dict):
            joined[name] = there | value
        else:
            joined[name] = value
    return (*layers, folder), joined


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UnknownName(f"no image recipe at {path}", hint="see vm_snapshots/ for the images there are")
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as exc:
        raise InvalidInput(f"{path}: not YAML: {exc}") from exc
    if not isinstance(data, dict):
        raise InvalidInput(f"{path}: expected a mapping of settings")
    return data


def _digest(layers: tuple[Path, ...]) -> str:
    """The folder's digest; with what it extends, the sha256 over the digests of all layers."""
    digests = [folder_digest(layer) for layer in layers]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _own(data: dict[str, Any], folder: Path) -> OwnRecipe:
    recipe = OwnRecipe(**data, layers=(folder,), digest="")
    disk = folder / recipe.disk
    if not disk.is_file():
        raise InvalidInput(f"{folder / 'recipe.yaml'}: disk: there is no file {disk}")
    capabilities = [f"app:{app}" for app in recipe.applications]
    capabilities += ["snapshot", *(_WITH_AGENT if recipe.agent == "qemu-ga" else ())]
    # Hashing tens of gigabytes at every start would cost minutes: a disk that was written to has another time.
    there = disk.stat()
    told = (folder / "recipe.yaml").read_bytes() + f"\n{there.st_size} {there.st_mtime_ns}".encode()
    digest = hashlib.sha256(told).hexdigest()
    return recipe.model_copy(update={"disk": disk, "capabilities": tuple(capabilities), "digest": digest})
