"""Guest images, the hosts that run them, and the table by which collectors share their slots."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from cuamaster.assets import asset_folder
from cuamaster.errors import InvalidInput
from cuamaster.ports import DesktopHost, GuestImage, ImageBuilder, Leases, Progress
from cuamaster.settings import Settings

if TYPE_CHECKING:
    from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder


def image_builder(settings: Settings) -> ImageBuilder:
    """Builds guest images from the recipes that ship and those in `settings.images`."""
    return _builder(settings)


def _builder(settings: Settings) -> MmdebstrapBuilder:
    from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder

    return MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache, own=settings.images)


def image_list(settings: Settings) -> list[dict[str, str]]:
    """Images there are recipes for: name, tag, whether built, capabilities; a recipe that is wrong says what is wrong."""
    builder = _builder(settings)
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


def desktop_pool(settings: Settings, progress: Progress | None) -> tuple[DesktopHost, GuestImage]:
    """All hosts of the settings as one, and the image their desktops have. Raises HostBusy, MissingDependency."""
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

    require_qemu()  # a daemon's guests are made here too: say so before minutes of image build
    builder = _builder(settings)
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
