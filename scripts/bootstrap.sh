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
# To make guest images without loop devices, and the one program compiled for them; the guest's kernel and busybox are
# downloaded for the image alone.
images=(mmdebstrap e2fsprogs debian-archive-keyring libxcb1-dev)
# To read videos; certificates for package and video sites.
media=(ffmpeg ca-certificates)
# The tests start a server of their own: many machines share their desktops through a table in PostgreSQL.
servers=(postgresql)

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
  echo "  python >= 3.11 with venv and headers, ${build[*]} ${guests[*]} ${images[*]} ${media[*]} ${servers[*]}" >&2
  echo "then run make with BOOTSTRAP=true to skip this step." >&2
  exit 2
fi

note_missing "${build[@]}" "${guests[@]}" "${images[@]}" "${media[@]}" "${servers[@]}"
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
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Package services (libvirtd) must not start by themselves: the embedded driver needs no daemon.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -rf "$scratch" "$policy"' EXIT
fi

# Runs apt-get; one line of progress from its status pipe, and its log only when it fails.
apt() {
  local code=0
  mkfifo "$scratch/status"
  awk -F: -v tty="$([ -t 2 ] && echo 1 || echo 0)" '
    { step = int($3 / 10) }
    tty { printf "\rbootstrap: %s %3d %% %-40.40s", $1 ~ /^dl/ ? "download" : "install ", $3, $2 >"/dev/stderr" }
    !tty && $1 == "pmstatus" && step != last { last = step; printf "bootstrap: installed %d %%\n", $3 >"/dev/stderr" }
    END { if (tty) printf "\r%70s\r", "" >"/dev/stderr" }' <"$scratch/status" &
  apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -o APT::Status-Fd=3 "$@" \
    3>"$scratch/status" >"$scratch/log" 2>&1 || code=$?
  wait $!
  rm "$scratch/status"
  if [ "$code" -ne 0 ]; then
    echo "bootstrap: apt-get $1 failed with status $code:" >&2
    tail -n 40 "$scratch/log" >&2
    exit "$code"
  fi
}
apt update
apt install --no-install-recommends "${missing[@]}"

if [ -z "$(scripts/find-python.sh || true)" ]; then
  echo "bootstrap: the system's python3 is older than 3.11; install a newer one and name it: make PYTHON=/path/to/python" >&2
  exit 2
fi
