"""Adds the guest's kernel, its few modules and an own initial RAM disk to a Debian tree."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterable
from pathlib import Path

from cuamaster.adapters.images.commands import run
from cuamaster.adapters.images.recipe import ImageRecipe
from cuamaster.errors import ImageBuildError


def install_kernel(recipe: ImageRecipe, root: Path, downloads: Path, scratch: Path, out: Path, log: Path) -> str:
    """Write `out/vmlinuz` and `out/initrd.img`, put modules into `root`; returns the kernel's version string."""
    kernel = scratch / "kernel"
    run(["dpkg-deb", "-x", _one(downloads, "linux-image-*.deb"), kernel], log=log)
    image = _one(kernel / "boot", "vmlinuz-*")
    version = image.name.removeprefix("vmlinuz-")
    shutil.copyfile(image, out / "vmlinuz")

    # The guest's own kmod resolves dependencies, so that the host needs none: it sees all modules under /mnt.
    staged = root / "mnt" / "lib"
    staged.mkdir(parents=True)
    shutil.move(kernel / "lib" / "modules", staged / "modules")
    run(["chroot", root, "depmod", "-b", "/mnt", version], log=log)
    wanted = _resolve(root, version, recipe.kernel_modules, log)
    boot = [root / path for path in _resolve(root, version, recipe.initrd_modules, log)]
    for path in wanted:
        target = root / path.relative_to("mnt")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, target)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copyfile(staged / "modules" / version / name, root / "lib" / "modules" / version / name)
    run(["chroot", root, "depmod", version], log=log)
    _write_initrd(recipe, boot, downloads, scratch, out / "initrd.img", log)
    shutil.rmtree(staged)
    return version


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise ImageBuildError(f"expected one {pattern} in {folder}, found {len(found)}")
    return found[0]


def _resolve(root: Path, version: str, modules: Iterable[str], log: Path) -> list[Path]:
    """Modules and what they depend on, in loading order, as paths relative to the tree; built-ins have none."""
    found: dict[Path, None] = {}
    for name in modules:
        listing = run(["chroot", root, "modprobe", "-d", "/mnt", "-S", version, "--show-depends", name], log=log)
        for line in listing.splitlines():
            words = line.split()
            if words[:1] == ["insmod"]:
                found.setdefault(Path(words[1].lstrip("/")))
    return list(found)


def _write_initrd(
    recipe: ImageRecipe, modules: list[Path], downloads: Path, scratch: Path, out: Path, log: Path
) -> None:
    """An archive of busybox, the modules in loading order and the recipe's `initrd-init`."""
    unpacked = scratch / "busybox"
    run(["dpkg-deb", "-x", _one(downloads, "busybox-static_*.deb"), unpacked], log=log)
    tree = scratch / "initrd"
    for name in ("bin", "m", "r"):
        (tree / name).mkdir(parents=True)
    shutil.copyfile(unpacked / "bin" / "busybox", tree / "bin" / "busybox")
    shutil.copyfile(recipe.file("initrd-init"), tree / "init")
    for number, module in enumerate(modules):
        shutil.copyfile(module, tree / "m" / f"{number:02d}-{module.name}")
    out.write_bytes(gzip.compress(_newc(tree), 1, mtime=0))


def _newc(tree: Path) -> bytes:
    """The cpio "newc" archive the kernel unpacks; written here because cpio(1) is one more package."""
    out = bytearray()

    def entry(name: str, mode: int, data: bytes) -> None:
        encoded = name.encode() + b"\0"
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        out.extend(b"070701" + b"".join(b"%08x" % value for value in fields) + encoded)
        out.extend(b"\0" * (-len(out) % 4))
        out.extend(data)
        out.extend(b"\0" * (-len(out) % 4))

    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_dir():
            entry(name, 0o040755, b"")
        else:
            entry(name, 0o100755, path.read_bytes())
    entry("TRAILER!!!", 0, b"")
    return bytes(out)
