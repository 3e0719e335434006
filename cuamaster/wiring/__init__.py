"""Turns Settings into ports; the only room that knows the adapters, each imported when it is first wanted."""

from cuamaster.wiring.desktops import desktop_ports
from cuamaster.wiring.hosts import image_builder, image_list, leases, probe_kvm
from cuamaster.wiring.reading import embedder, reader
from cuamaster.wiring.seeding import seeding_ports, transcribers
from cuamaster.wiring.videos import is_page, sites, sources
from cuamaster.wiring.workspace import store

__all__ = [
    "desktop_ports",
    "embedder",
    "image_builder",
    "image_list",
    "is_page",
    "leases",
    "probe_kvm",
    "reader",
    "seeding_ports",
    "sites",
    "sources",
    "store",
    "transcribers",
]
