"""Reads a guest image's recipe folder and names its content by hash."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cuamaster.errors import InvalidInput, UnknownName

_PACKAGE = r"^[a-z0-9][a-z0-9+.-]+$"
_MODULE = r"^[A-Za-z0-9_-]+$"
Package = Annotated[str, Field(pattern=_PACKAGE)]
Module = Annotated[str, Field(pattern=_MODULE)]


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


class ImageRecipe(_Part):
    """`recipe.yaml` of one image; `folder` and `digest` (sha256 over the whole folder) come from where it was read."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    suite: str
    arch: str
    user: str
    home: str
    disk_mib: int = Field(ge=512)
    screen: Screen
    memory_mib: int = Field(ge=256)
    vcpus: int = Field(ge=1, le=64)
    kernel_package: Package
    packages: tuple[Package, ...]
    kernel_modules: tuple[Module, ...]
    initrd_modules: tuple[Module, ...]
    capabilities: tuple[str, ...]
    warm_up: tuple[WarmUp, ...] = ()
    folder: Path
    digest: str

    @property
    def tag(self) -> str:
        """Name of the built image in the cache: `light-desktop-0123456789ab`."""
        return f"{self.name}-{self.digest[:12]}"


DOMAIN_TEMPLATE = "domain.xml"
"""The virtual machine around the image; it is part of the golden snapshot's name, not of the image's."""


def folder_digest(folder: Path) -> str:
    """Return the sha256 over path and bytes of every file the image is made from; modes and times do not count."""
    total = hashlib.sha256()
    for path in sorted(item for item in folder.rglob("*") if item.is_file() and item.name != DOMAIN_TEMPLATE):
        total.update(
            f"{path.relative_to(folder).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        )
    return total.hexdigest()


def load_recipe(folder: Path) -> ImageRecipe:
    """Read `folder/recipe.yaml`; raises UnknownName without one, InvalidInput naming file and field when it is wrong."""
    path = folder / "recipe.yaml"
    if not path.is_file():
        raise UnknownName(f"no image recipe at {path}", hint="see vm_snapshots/ for the images there are")
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as exc:
        raise InvalidInput(f"{path}: not YAML: {exc}") from exc
    if not isinstance(data, dict):
        raise InvalidInput(f"{path}: expected a mapping of settings")
    try:
        return ImageRecipe(**data, folder=folder, digest=folder_digest(folder))
    except (ValidationError, TypeError) as exc:
        if isinstance(exc, ValidationError):
            first = exc.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InvalidInput(f"{path}: {where}: {first['msg']}") from exc
        raise InvalidInput(f"{path}: {exc}") from exc
