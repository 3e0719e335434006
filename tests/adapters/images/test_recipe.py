"""Recipes: read, hashed, and refused with file and field."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from cuamaster.adapters.images.commands import require_programs
from cuamaster.adapters.images.mmdebstrap import FILES, MmdebstrapBuilder
from cuamaster.adapters.images.recipe import ImageRecipe, load_recipe
from cuamaster.assets import asset_folder
from cuamaster.errors import InvalidInput, MissingDependency, StoreFull, UnknownName


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    shutil.copytree(asset_folder("vm_snapshots") / "light-desktop", tmp_path / "recipes" / "light-desktop")
    return tmp_path / "recipes"


def change(folder: Path, **fields: object) -> None:
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | fields))


def test_the_shipped_recipe_is_whole(recipes: Path) -> None:
    recipe = load_recipe(recipes / "light-desktop")
    apps = {"app:mousepad", "app:pcmanfm", "app:galculator", "app:lxterminal"}
    assert apps | {"shell", "clipboard", "accessibility"} <= set(recipe.capabilities)
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
    with pytest.raises(UnknownName, match=r"windows-95.*there are: light-desktop"):
        MmdebstrapBuilder(recipes, recipes / "cache").find("windows-95")


def test_an_image_that_is_not_built_is_not_found(recipes: Path, tmp_path: Path) -> None:
    assert MmdebstrapBuilder(recipes, tmp_path / "cache").find("light-desktop") is None


@pytest.mark.parametrize(
    ("name", "content"), [("base.qcow2", b"by"), ("manifest.json", b'{"disk_by'), ("vmlinuz", None)]
)
def test_an_image_that_was_cut_short_is_not_found(
    recipes: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    builder = MmdebstrapBuilder(recipes, tmp_path / "cache")
    folder = tmp_path / "cache" / "images" / builder.recipe("light-desktop").tag
    folder.mkdir(parents=True)
    for file in FILES:
        (folder / file).write_bytes(b'{"disk_bytes": 5}' if file == "manifest.json" else b"bytes")
    found = builder.find("light-desktop")
    assert found is not None
    assert found.folder == folder
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert builder.find("light-desktop") is None


def test_missing_programs_are_named_all_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency, match=r"e2fsprogs.*mmdebstrap.*qemu-utils"):
        require_programs()


def test_an_extending_recipe_adds_lists_replaces_values_and_has_a_digest_over_all_layers(recipes: Path) -> None:
    base = load_recipe(recipes / "light-desktop")
    folder = recipes / "bigger"
    folder.mkdir()
    (folder / "recipe.yaml").write_text(
        "name: bigger\nextends: light-desktop\nmemory_mib: 2048\npackages: [gimp, udev]\ncapabilities: ['app:gimp']\n"
    )
    recipe = load_recipe(folder)
    assert isinstance(recipe, ImageRecipe)
    assert isinstance(base, ImageRecipe)
    assert recipe.packages == (*base.packages, "gimp")
    assert recipe.capabilities == (*base.capabilities, "app:gimp")
    assert (recipe.memory_mib, recipe.screen) == (2048, base.screen)
    assert recipe.layers == (recipes / "light-desktop", folder)
    assert recipe.file("domain.xml") == recipes / "light-desktop" / "domain.xml"
    assert recipe.tag.startswith("bigger-")
    with (recipes / "light-desktop" / "initrd-init").open("a") as handle:
        handle.write("# another line\n")
    assert load_recipe(folder).digest != recipe.digest


def test_an_image_does_not_extend_itself(recipes: Path) -> None:
    for name, base in (("one", "two"), ("two", "one")):
        (recipes / name).mkdir()
        (recipes / name / "recipe.yaml").write_text(f"name: {name}\nextends: {base}\n")
    with pytest.raises(InvalidInput, match="extends"):
        load_recipe(recipes / "one")


@pytest.mark.parametrize("name", ["office", "web-media"])
def test_the_other_shipped_recipes_are_whole(name: str) -> None:
    shelf = asset_folder("vm_snapshots")
    recipe = load_recipe(shelf / name)
    assert recipe.name == name
    assert set(load_recipe(shelf / "light-desktop").capabilities) < set(recipe.capabilities)
    opened = {item.window_class for item in recipe.warm_up}
    assert {recipe.window_apps.get(item, item) for item in opened} == {
        item.removeprefix("app:") for item in recipe.capabilities if item.startswith("app:") and item != "app:xterm"
    }


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own" / "mine"
    folder.mkdir(parents=True)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(folder / "disk.qcow2"), "8M"], check=True)
    (folder / "domain.xml").write_text("<domain>$name $disk $memory_mib $vcpus $qemu_args</domain>")
    (folder / "recipe.yaml").write_text(
        "kind: own\nname: mine\ndisk: disk.qcow2\nagent: none\nscreen: {width: 1024, height: 768}\n"
        "memory_mib: 4096\nvcpus: 2\napplications: [notepad]\n"
    )
    return folder


def test_a_disk_of_ones_own_is_linked_and_can_do_what_its_agent_allows(own: Path, tmp_path: Path) -> None:
    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), tmp_path / "cache", own=own.parent)
    assert builder.find("mine") is None
    image = builder.build("mine")
    assert builder.find("mine") == image
    assert image.capabilities == {"app:notepad", "snapshot"}
    assert (image.width, image.height) == (1024, 768)
    assert (image.folder / "base.qcow2").resolve() == own / "disk.qcow2"
    assert {"mine", "light-desktop", "office"} <= set(builder.names())
    change(own, agent="qemu-ga")
    assert {"shell", "clipboard", "agent"} <= builder.build("mine").capabilities
    with (own / "disk.qcow2").open("ab") as handle:  # somebody started it and went on working
        handle.write(b"more")
    assert builder.find("mine") is None


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"disk": "other.qcow2"}, "other.qcow2"),
        ({"agent": "perhaps"}, "agent"),
        ({"capabilities": ["shell"]}, "capabilities"),
        ({"packages": ["vim"]}, "packages"),
        ({"extends": "light-desktop"}, "extends"),
    ],
)
def test_what_a_disk_of_ones_own_cannot_say_is_named(own: Path, fields: dict[str, object], where: str) -> None:
    change(own, **fields)
    with pytest.raises(InvalidInput, match=f"recipe.yaml.*{where}"):
        load_recipe(own, shelf=asset_folder("vm_snapshots"))


def test_a_disk_that_cannot_be_snapshotted_or_started_is_refused(own: Path, tmp_path: Path) -> None:
    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), tmp_path / "cache", own=own.parent)
    (own / "domain.xml").write_text("<domain>$name $disk $memory_mib $vcpus</domain>")
    with pytest.raises(InvalidInput, match=r"domain.xml.*qemu_args"):
        builder.build("mine")
    (own / "domain.xml").unlink()
    with pytest.raises(InvalidInput, match=r"domain\.xml is missing"):
        builder.build("mine")
    (own / "domain.xml").write_text("$name $disk $memory_mib $vcpus $qemu_args")
    (own / "disk.qcow2").write_bytes(bytes(1 << 20))
    with pytest.raises(InvalidInput, match=r"raw.*qemu-img convert"):
        builder.build("mine")


def test_an_image_belongs_to_the_owner_of_the_cache(own: Path, tmp_path: Path) -> None:
    images = tmp_path / "cache" / "images"
    images.mkdir(parents=True)
    os.chown(images, 1234, 1234)  # root builds once, somebody else runs it
    folder = MmdebstrapBuilder(asset_folder("vm_snapshots"), images.parent, own=own.parent).build("mine").folder
    assert {path.lstat().st_uid for path in (folder, *folder.iterdir())} == {1234}
    assert (own / "disk.qcow2").stat().st_uid == os.geteuid()


def test_a_disk_too_small_for_the_build_is_told_before_it_begins(recipes: Path, tmp_path: Path) -> None:
    change(recipes / "light-desktop", disk_mib=1 << 40)
    with pytest.raises(StoreFull, match="building light-desktop needs"):
        MmdebstrapBuilder(recipes, tmp_path / "cache").build("light-desktop")
    assert not [path for path in (tmp_path / "cache" / "images").iterdir() if path.is_dir()]


@pytest.mark.slow
def test_a_package_nobody_has_is_named(recipes: Path, tmp_path: Path) -> None:
    change(recipes / "light-desktop", packages=["udev", "no-such-package-at-all"])
    with pytest.raises(MissingDependency, match="no-such-package-at-all"):
        MmdebstrapBuilder(recipes, tmp_path / "cache").build("light-desktop")
    left = [path.name for path in (tmp_path / "cache" / "images").iterdir()]
    assert not [name for name in left if (tmp_path / "cache" / "images" / name).is_dir()]
    (log,) = (name for name in left if name.endswith(".log"))
    assert "no-such-package-at-all" in (tmp_path / "cache" / "images" / log).read_text()
