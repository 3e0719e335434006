"""Make the recordings of this folder: `python benchmarks/recordings/make.py --out DIR [NAME...]`, as root.

Each folder here holds scenario.yaml (what is shown, done and said, and to which `set` it belongs) and truth.json of the recording
that the published figures come from. The applications run as an ordinary user with an empty home folder, which covers the real one in
a mount namespace of its own. A new recording has new times, so it brings its own truth; that it does the same things is checked.
A recording whose scenario is unchanged is not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIRST_DISPLAY = 120
KEPT = ("truth.json", "info.json", "tutorial*.vtt")
"""What is committed with --freeze; the media is made again where it is needed."""
PACKAGES = (
    "xvfb openbox tint2 pcmanfm mousepad galculator lxterminal gnumeric featherpad gpicview xfce4-terminal xdotool wmctrl x11-utils "
    "x11-xserver-utils dbus-x11 adwaita-icon-theme fonts-dejavu-core fonts-wqy-microhei espeak-ng ffmpeg"
)


def scenarios(folder: Path = HERE) -> list[Path]:
    """Folders with a scenario, by name."""
    return sorted(path.parent for path in folder.glob("*/scenario.yaml"))


def done(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """What was done, without the times."""
    return [
        {key: value for key, value in action.items() if key not in ("t_start", "t_end")} for action in truth["actions"]
    ]


def make(source: Path, out: Path, user: str, first_display: int = FIRST_DISPLAY) -> Path:
    """The folder with media, captions and truth of one scenario; raises SystemExit saying what is missing."""
    target = out / source.name
    scenario = (source / "scenario.yaml").read_bytes()
    marker = target / "scenario.yaml"
    if not (marker.exists() and marker.read_bytes() == scenario):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        record(source, target, user, first_display)
        marker.write_bytes(scenario)  # last: it says that the recording is whole
    kept = source / "truth.json"
    if kept.exists() and done(json.loads(kept.read_text())) != done(json.loads((target / "truth.json").read_text())):
        raise SystemExit(
            f"{target} does other things than {kept}: record with the committed scenario, or --freeze anew"
        )
    return target


def record(source: Path, target: Path, user: str, first_display: int = FIRST_DISPLAY) -> None:
    """Run the recorder with the user's home covered by an empty one."""
    try:
        owner = pwd.getpwnam(user)
    except KeyError:
        raise SystemExit(f"no user {user!r} to run the applications: useradd --create-home {user}") from None
    if os.geteuid() != 0:
        raise SystemExit("recordings are made as root (an empty home is mounted over the user's)")
    lacking = [
        name for name in ("Xvfb", "openbox", "xdotool", "wmctrl", "espeak-ng", "ffmpeg") if not shutil.which(name)
    ]
    if lacking:
        raise SystemExit(f"{', '.join(lacking)} not found; apt-get install {PACKAGES}")
    empty_home = f'mount -t tmpfs -o uid={owner.pw_uid},gid={owner.pw_gid},mode=755 tmpfs {owner.pw_dir} && exec "$@"'
    recorder = [sys.executable, "-m", "cuamaster.samples.record", str(source / "scenario.yaml"), "--out", str(target)]
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        empty_home,
        "sh",
        *recorder,
        "--user",
        user,
        "--display",
        free_display(first_display),
    ]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path}, stdout=sys.stderr)


def free_display(first: int = FIRST_DISPLAY) -> str:
    """An X display number nobody uses."""
    return next(f":{n}" for n in range(first, 400) if not Path(f"/tmp/.X{n}-lock").exists())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="folders of scenarios (default: all)")
    parser.add_argument("--out", type=Path, required=True, help="where the recordings go, a folder each")
    parser.add_argument("--scenarios", type=Path, default=HERE, help="where the scenarios are")
    parser.add_argument("--user", default="user", help="an ordinary user; its home folder is not touched")
    parser.add_argument(
        "--first-display", type=int, default=FIRST_DISPLAY, help="X display numbers to take, from here on"
    )
    parser.add_argument("--freeze", action="store_true", help="keep truth and captions beside the scenario")
    arguments = parser.parse_args()
    known = {path.name: path for path in scenarios(arguments.scenarios)}
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        raise SystemExit(f"no scenario {', '.join(unknown)}; there are {', '.join(known)}")
    for name in arguments.names or known:
        if arguments.freeze:
            (known[name] / "truth.json").unlink(missing_ok=True)
        target = make(known[name], arguments.out, arguments.user, arguments.first_display)
        if arguments.freeze:
            for pattern in KEPT:
                for file in target.glob(pattern):
                    shutil.copy(file, known[name] / file.name)
        print(target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
