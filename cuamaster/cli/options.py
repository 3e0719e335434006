"""Options that several commands share, and the settings they make."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError

from cuamaster.errors import InvalidInput
from cuamaster.settings import Settings

Workspace = Annotated[Path | None, typer.Option("--workspace", "-w", help="Where a run writes (default ./workspace).")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout.")]
RoundNumber = Annotated[int | None, typer.Option("--round", min=1, help="Round to work in (default: the newest).")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Tell more on stderr.")]


def begin(workspace: Path | None, verbose: bool, **given: Any) -> Settings:
    """Logs to stderr from here on; settings as `settings_of` makes them. Raises InvalidInput for a wrong one."""
    from cuamaster.progress import configure_logs

    configure_logs(verbose=verbose)
    return settings_of(workspace, **given)


def settings_of(workspace: Path | None, **given: Any) -> Settings:
    """Settings with the workspace and those given (None: not given); raises InvalidInput, naming the setting."""
    wanted = {name: value for name, value in given.items() if value is not None}
    if workspace is not None:
        wanted["workspace"] = workspace
    try:
        return Settings(**wanted)
    except ValidationError as exc:
        first = exc.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(
            f"setting {name}: {first['msg'].removeprefix('Value error, ')}",
            hint=f"environment variable CUAMASTER_{str(first['loc'][0]).upper()}",
        ) from exc
    except SettingsError as exc:  # a list in an environment variable that is no JSON
        raise InvalidInput(str(exc), hint="lists are written as JSON: CUAMASTER_VIDEOS='[\"folder\"]'") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"cuamaster.toml: {exc}") from exc
