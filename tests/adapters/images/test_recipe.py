"""Recipes: read, hashed, and refused with file and field."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from cuamaster.adapters.images.commands import require_programs
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.adapters.images.recipe import load_recipe
from cuamaster.assets import asset_folder
from cuamaster.errors import InvalidInput, MissingDependency, UnknownName


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    shutil.copytree(asset_folder("vm_snapshots") / "light-desktop", tmp_path / "recipes" / "light-desktop")
    return tmp_path / "recipes"


def change(folder: Path, **fields: object) -> None:
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | fields))


def test_the_shipped_recipe_is_whole(recipes: Path) -> None:
    recipe = load_recipe(recipes / "light-desktop")
    assert {"app:mousepad", "app:pcmanfm", "app:galculator", "app:lxterminal", "shell", "clipboard"} <= set(
        recipe.capabilities
    )
    apps = {item.removeprefix("app:") for item in recipe.capabilities if item.startswith("app:")}
    assert apps <= set(recipe.packages)
    assert {"qemu-guest-agent", "xclip", "wmctrl", "xdotool"} <= set(recipe.packages)
    assert recipe.tag == f"light-desktop-{recipe.digest[:12]}"


def test_the_digest_follows_content_only(recipes: Path) -> None:
    folder = recipes / "light-desktop"
    before = load_recipe(folder).digest
    (folder / "customize.sh").chmod(0o700)
    assert load_recipe(folder).digest == before
    (folder / "domain.xml").write_text("<domain/>")  # the machine around the image, not the image
    assert load_recipe(folder).digest == before
    with (folder / "files" / "usr" / "lib" / "desk" / "session").open("a") as handle:
        handle.write("# another line\n")
    assert load_recipe(folder).digest != before


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"packages": ["rm -rf /"]}, "packages"),
        ({"disk_mib": "big"}, "disk_mib"),
        ({"memroy_mib": 5}, "memroy_mib"),
        ({"screen": {"width": 10, "height": 800}}, "screen.width"),
    ],
)
def test_a_wrong_field_is_named(recipes: Path, fields: dict[str, object], where: str) -> None:
    change(recipes / "light-desktop", **fields)
    with pytest.raises(InvalidInput, match=f"recipe.yaml.*{where}"):
        load_recipe(recipes / "light-desktop")


def test_broken_yaml_and_unknown_images(recipes: Path) -> None:
    (recipes / "light-desktop" / "recipe.yaml").write_text("name: [")
    with pytest.raises(InvalidInput, match="not YAML"):
        load_recipe(recipes / "light-desktop")
    with pytest.raises(UnknownName, match="windows-95"):
        MmdebstrapBuilder(recipes, recipes / "cache").find("windows-95")


def test_an_image_that_is_not_built_is_not_found(recipes: Path, tmp_path: Path) -> None:
    assert MmdebstrapBuilder(recipes, tmp_path / "cache").find("light-desktop") is None


def test_missing_programs_are_named_all_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency, match=r"e2fsprogs.*mmdebstrap.*qemu-utils"):
        require_programs()


@pytest.mark.slow
def test_a_package_nobody_has_is_named(recipes: Path, tmp_path: Path) -> None:
    change(recipes / "light-desktop", packages=["udev", "no-such-package-at-all"])
    with pytest.raises(MissingDependency, match="no-such-package-at-all"):
        MmdebstrapBuilder(recipes, tmp_path / "cache").build("light-desktop")
    assert [path.name for path in (tmp_path / "cache" / "images").iterdir() if path.is_dir()] == []
