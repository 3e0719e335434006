"""The conformance suite of the Store port."""

import hashlib
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import IntegrityError, StoreFull
from cuamaster.ports import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return LocalStore(tmp_path / "blobs")


@pytest.mark.parametrize("data", [b"", b"\x00\xff" * 7, bytes(range(256)) * 9000], ids=["empty", "binary", "2 MB"])
def test_put_then_get(store: Store, data: bytes) -> None:
    digest = hashlib.sha256(data).hexdigest()
    assert not store.has(digest)
    assert store.put(data) == digest == store.put(data)
    assert store.has(digest) and store.get(digest) == data


def test_missing_and_illegal_names(store: Store) -> None:
    with pytest.raises(IntegrityError, match="missing"):
        store.get("0" * 64)
    for name in ("", "../../etc/passwd", "A" * 64, "0" * 63):
        with pytest.raises(IntegrityError, match="not a SHA-256"):
            store.get(name)


def test_damage_is_found_and_repaired(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    digest = store.put(b"picture")
    assert store.path(digest) == tmp_path / digest[:2] / digest
    store.path(digest).write_bytes(b"pictura")
    with pytest.raises(IntegrityError, match="not what its name says"):
        store.get(digest)
    store.put(b"picture")
    assert store.get(digest) == b"picture"


def test_many_writers_of_one_blob(store: Store, tmp_path: Path) -> None:
    data = b"x" * 300_000
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda _: store.put(data), range(32)))
    assert len(digests) == 1 and store.get(digests.pop()) == data
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_full_disk(tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom cuamaster.adapters.stores.local import LocalStore\nfrom cuamaster.errors import StoreFull\n"
        "store = LocalStore(sys.argv[1])\nfirst = store.put(b'small')\n"
        "try:\n    store.put(os.urandom(400_000))\nexcept StoreFull:\n    assert store.get(first) == b'small'\n    print('full')\n"
    )
    mount = 'mount -t tmpfs -o size=128k none "$1" && exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", mount, "sh", str(tmp_path), sys.executable, script],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "full\n", done.stderr
    assert issubclass(StoreFull, OSError)


def test_what_a_killed_writer_left_is_swept_and_a_living_ones_draft_stays(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom cuamaster.adapters.stores.local import LocalStore\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nLocalStore(sys.argv[1]).put(b'half')\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert killed.returncode == -9
    (left,) = (tmp_path / ".drafts").iterdir()
    own = tmp_path / ".drafts" / f"{socket.gethostname()}-{os.getpid()}-abc"
    own.write_bytes(b"being written")
    store = LocalStore(tmp_path)
    assert not left.exists()
    assert own.exists()
    assert not store.has(hashlib.sha256(b"half").hexdigest())
