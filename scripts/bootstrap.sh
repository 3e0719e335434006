#!/usr/bin/env bash
# Installs the system packages that cuamaster needs, or, without root, says which are missing and how to install them.
#
#   scripts/bootstrap.sh          install what is missing (root), print nothing when all is there
#   scripts/bootstrap.sh --list   only print what is missing, one package a line
#
# Exit codes: 0 all there, 2 packages are missing and this user cannot install them, else the package manager's own.
set -euo pipefail
cd "$(dirname "$0")/.."

# To build libvirt-python against the installed libvirt.
build=(gcc libc6-dev pkg-config libvirt-dev)
# To run guests: the embedded driver and QEMU. libvirt-daemon-system makes the user libvirt-qemu, without which
# the driver refuses to start even when QEMU runs as root.
guests=(libvirt-daemon libvirt-daemon-driver-qemu libvirt-daemon-system qemu-system-x86 qemu-utils)
# To make guest images without loop devices.
images=(mmdebstrap e2fsprogs busybox-static cpio)
# To read videos; certificates for package and video sites.
media=(ffmpeg ca-certificates)

missing=()
note_missing() {
  local package state
  for package in "$@"; do
    state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
  done
}

if ! command -v dpkg-query >/dev/null; then
  echo "bootstrap: this is not a Debian system; install your system's equivalents of:" >&2
  echo "  python >= 3.11 with venv and headers, ${build[*]} ${guests[*]} ${images[*]} ${media[*]}" >&2
  echo "then run make with BOOTSTRAP=true to skip this step." >&2
  exit 2
fi

note_missing "${build[@]}" "${guests[@]}" "${images[@]}" "${media[@]}"
python=$(scripts/find-python.sh || true)
if [ -z "$python" ]; then
  note_missing python3 python3-venv python3-dev
fi

if [ "${#missing[@]}" -eq 0 ]; then
  if [ -z "$python" ]; then
    echo "bootstrap: no Python >= 3.11 with venv and C headers; this system's python3 is older or incomplete." >&2
    echo "  Install a newer one and put it on PATH as python3.11, python3.12, ... or name it: make PYTHON=/path/to/python" >&2
    exit 2
  fi
  exit 0
fi
if [ "${1:-}" = --list ]; then
  printf '%s\n' "${missing[@]}"
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "bootstrap: these system packages are missing, and only root can install them:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  echo "Run this once, then make again:" >&2
  echo "  sudo apt-get update && sudo apt-get install --no-install-recommends -y ${missing[*]}" >&2
  exit 2
fi

echo "bootstrap: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -qq)
# Package services (libvirtd) must not start by themselves: the embedded driver needs no daemon.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
"${apt[@]}" update >&2
"${apt[@]}" install --no-install-recommends -y "${missing[@]}" >&2

if [ -z "$(scripts/find-python.sh || true)" ]; then
  echo "bootstrap: the system's python3 is older than 3.11; install a newer one and name it: make PYTHON=/path/to/python" >&2
  exit 2
fi
