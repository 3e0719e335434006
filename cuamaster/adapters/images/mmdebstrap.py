"""Builds a guest image from its recipe with mmdebstrap, or takes a disk that is there; cached by the recipe's content hash."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tempfile
import time
from pathlib import Path

from cuamaster.adapters.images.commands import require_programs, run
from cuamaster.adapters.images.kernel import install_kernel
from cuamaster.adapters.images.own import adopt
from cuamaster.adapters.images.publish import MORE_ROOM, publish
from cuamaster.adapters.images.recipe import GuestRecipe, ImageRecipe, OwnRecipe, load_recipe
from cuamaster.errors import ImageBuildError, MissingDependency, StoreFull, UnknownName, storing
from cuamaster.ports import GuestImage, Progress

FILES = ("base.qcow2", "vmlinuz", "initrd.img", "packages.txt", "manifest.json")
OWN_FILES = ("base.qcow2", "manifest.json")
CUSTOMIZE = "customize.sh"
_UNAVAILABLE = re.compile(r"E: (?:Unable to locate package (\S+)|Package '?(\S+?)'? has no installation candidate)")


class MmdebstrapBuilder:
    """Image builder for Debian guests; needs root, no loop device, no daemon. Disks of one's own need neither.

    `recipes` holds one folder per image, `own` more of them (looked at first), `cache` receives `images/<name>-<digest12>/`;
    `mirror` overrides the archive.
    """

    def __init__(self, recipes: Path, cache: Path, *, own: Path | None = None, mirror: str | None = None) -> None:
        self._recipes = recipes
        self._own = own
        self._images = cache / "images"
        self._mirror = mirror

    def recipe(self, name: str) -> ImageRecipe | OwnRecipe:
        """The recipe in the folder `name`; raises UnknownName, InvalidInput."""
        if self._own is not None and (self._own / name).is_dir():
            return load_recipe(self._own / name, shelf=self._recipes)
        if name not in self.names():
            raise UnknownName(f"no image is called {name!r}", hint=f"there are: {', '.join(self.names())}")
        return load_recipe(self._recipes / name)

    def names(self) -> list[str]:
        """Images there are recipes for."""
        folders = [self._recipes, *([self._own] if self._own is not None else [])]
        return sorted({path.parent.name for folder in folders for path in folder.glob("*/recipe.yaml")})

    def find(self, name: str) -> GuestImage | None:
        """The cached image of today's recipe, or None; raises UnknownName, InvalidInput."""
        recipe = self.recipe(name)
        target = self._images / recipe.tag
        return _guest_image(recipe, target) if _complete(recipe, target) else None

    def build(self, name: str, progress: Progress | None = None) -> GuestImage:
        """Return the image, building it first if it is not cached.

        Safe to call from several processes: one builds, the others wait. Raises MissingDependency (programs, packages,
        root rights), ImageBuildError (a step failed; its log stays), StoreFull. Nothing half-made is left behind, and what a
        killed build left goes with the next one.
        """
        from filelock import FileLock

        recipe = self.recipe(name)
        target = self._images / recipe.tag
        if not _complete(recipe, target):
            with storing(self._images):
                self._images.mkdir(parents=True, exist_ok=True)
                with FileLock(self._images / f"{recipe.tag}.lock"):
                    if not _complete(recipe, target):
                        self._build_into(recipe, target, progress or (lambda _phrase, _share: None))
        return _guest_image(recipe, target)

    def _build_into(self, recipe: ImageRecipe | OwnRecipe, target: Path, progress: Progress) -> None:
        if isinstance(recipe, ImageRecipe):
            require_programs()
            if os.geteuid() != 0:
                raise MissingDependency(
                    "building a guest image needs root",
                    hint=f"once: sudo CUAMASTER_CACHE={shlex.quote(str(self._images.parent.resolve()))}"
                    f" {shlex.quote(shutil.which('cuamaster') or 'cuamaster')} image build {recipe.name}; the image is yours then",
                )
        prefix = f".{recipe.tag}-"
        for leftover in [target, *self._images.glob(f"{prefix}*")]:  # of a killed build: the lock is ours
            shutil.rmtree(leftover, ignore_errors=True)
        # What cannot be removed now goes with the next build; it must not hide why this one failed.
        with tempfile.TemporaryDirectory(prefix=prefix, dir=self._images, ignore_cleanup_errors=True) as scratch:
            made = (
                self._build(recipe, Path(scratch), progress)
                if isinstance(recipe, ImageRecipe)
                else adopt(recipe, Path(scratch) / "out")
            )
            _hand_over(made, self._images)
            publish(made, target)

    def _build(self, recipe: ImageRecipe, scratch: Path, progress: Progress) -> Path:
        # Tree, raw disk and image lie side by side for a while: together less than the guest's disk would be when full.
        free = shutil.disk_usage(scratch).free >> 20
        if free < recipe.disk_mib:
            raise StoreFull(
                f"{free} MiB free under {self._images}, building {recipe.name} needs {recipe.disk_mib}", hint=MORE_ROOM
            )
        started = time.monotonic()
        out, root, downloads = scratch / "out", scratch / "root", scratch / "downloads"
        out.mkdir()
        downloads.mkdir()
        downloads.chmod(0o777)  # apt downloads as its own user
        scratch.chmod(0o755)
        log = self._images / f"{recipe.tag}.log"
        log.unlink(missing_ok=True)
        self._bootstrap(recipe, root, downloads, log, progress)
        progress("kernel and initial RAM disk", 0.75)
        kernel = install_kernel(recipe, root, downloads, scratch, out, log)
        packages = run(
            ["chroot", root, "dpkg-query", "-W", "-f", "${Package} ${Version} ${Installed-Size}\\n"], log=log
        )
        (out / "packages.txt").write_text(packages, "utf-8")
        progress("file system", 0.82)
        raw = scratch / "disk.raw"
        with raw.open("wb") as handle:
            handle.truncate(recipe.disk_mib << 20)
        run(
            [
                "mke2fs",
                "-q",
                "-t",
                "ext4",
                "-d",
                root,
                "-m",
                "0",
                "-O",
                "^has_journal",
                "-E",
                "lazy_itable_init=0",
                "-L",
                "desk",
                raw,
            ],
            log=log,
        )
        progress("disk image", 0.93)
        run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", raw, out / "base.qcow2"], log=log)
        manifest = {
            "name": recipe.name,
            "digest": recipe.digest,
            "kernel": kernel,
            "capabilities": list(recipe.capabilities),
            "packages": len(packages.splitlines()),
            "disk_bytes": (out / "base.qcow2").stat().st_size,
            "build_seconds": round(time.monotonic() - started, 1),
        }
        (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
        log.rename(out / "build.log")
        progress("image ready", 1.0)
        return out

    def _bootstrap(self, recipe: ImageRecipe, root: Path, downloads: Path, log: Path, progress: Progress) -> None:
        """Unpack and configure the packages into `root`, then run the recipe's customize.sh on it."""
        seen = 0

        def watch(line: str) -> None:
            nonlocal seen
            if line.startswith(("Unpacking ", "Setting up ")):
                seen += 1
                progress(line.split(" (")[0].lower(), 0.05 + 0.65 * min(1.0, seen / 720))
            elif line.startswith("I: "):
                progress(line[3:], 0.05 + 0.65 * min(1.0, seen / 720))

        command: list[str | Path] = [
            "mmdebstrap", "--mode=root", "--format=directory", "--variant=minbase", f"--architectures={recipe.arch}",
            f"--include={','.join(recipe.packages)}", "--verbose",
            "--dpkgopt=force-unsafe-io",
            *(f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("man", "doc", "locale", "info")),
            '--aptopt=Apt::Install-Recommends "false"', '--aptopt=Acquire::Retries "3"',
            "--skip=cleanup/apt/lists",
            *(
                f'--customize-hook=RECIPE_DIR={shlex.quote(str(layer))} sh {shlex.quote(str(layer / CUSTOMIZE))} "$1"'
                for layer in recipe.layers
                if (layer / CUSTOMIZE).is_file()
            ),
            recipe.suite, root,
        ]  # fmt: skip
        if self._mirror:
            command.append(self._mirror)
        env = {
            **os.environ,
            "DOWNLOADS": str(downloads),
            "KERNEL_PACKAGE": recipe.kernel_package,
            "LC_ALL": "C",
        }
        progress("fetching packages", 0.02)
        try:
            run(command, log=log, on_line=watch, env=env)
        except ImageBuildError as exc:
            absent = sorted({first or second for first, second in _UNAVAILABLE.findall(log.read_text("utf-8"))})
            if absent:
                raise MissingDependency(
                    f"recipe {recipe.name}: the archive of {recipe.suite} has no package {', '.join(absent)}",
                    hint=f"correct packages in {recipe.folder / 'recipe.yaml'}",
                ) from exc
            raise
        shutil.rmtree(root / "var" / "lib" / "apt" / "lists", ignore_errors=True)


def _hand_over(made: Path, images: Path) -> None:
    """What root built belongs to the owner of the cache, who makes the golden snapshot in it."""
    owner = images.stat()
    for path in (made, *made.iterdir()):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _complete(recipe: GuestRecipe, target: Path) -> bool:
    """Whether the image is there with all its files, and its disk as long as when it was built."""
    if not isinstance(recipe, ImageRecipe):
        return all((target / name).is_file() for name in OWN_FILES)
    if not all((target / name).is_file() for name in FILES):
        return False
    try:
        built = json.loads((target / "manifest.json").read_text("utf-8"))["disk_bytes"]
    except (ValueError, KeyError):  # cut short
        return False
    return bool((target / "base.qcow2").stat().st_size == built)


def _guest_image(recipe: GuestRecipe, folder: Path) -> GuestImage:
    return GuestImage(
        name=recipe.name,
        digest=recipe.digest,
        folder=folder,
        capabilities=frozenset(recipe.capabilities),
        width=recipe.screen.width,
        height=recipe.screen.height,
    )
