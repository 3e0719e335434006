"""Desktops: real ones through libvirt, and a simulated one for fast runs."""

import os

# libvirt reads this once, when its module is imported; without it the embedded driver logs to stderr.
os.environ.setdefault("LIBVIRT_LOG_OUTPUTS", "4:file:/dev/null")
