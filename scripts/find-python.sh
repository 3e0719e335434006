#!/bin/sh
# Prints the first Python >= 3.11 that can make a virtual environment and compile an extension; fails when there is none.
set -eu

fit='
import pathlib, sys, sysconfig
import ensurepip, venv
header = pathlib.Path(sysconfig.get_path("include"), "Python.h")
sys.exit(not ((3, 11) <= sys.version_info[:2] < (3, 15) and header.is_file()))
'
for name in ${PYTHON:-} python3.11 python3.12 python3.13 python3.14 python3; do
  if command -v "$name" >/dev/null 2>&1 && "$name" -c "$fit" >/dev/null 2>&1; then
    command -v "$name"
    exit 0
  fi
done
exit 1
