"""What every flow begins and ends with: its settings and workspace, the round's table."""

from __future__ import annotations

import logging
from typing import Any

from prefect.artifacts import create_table_artifact
from pydantic import ValidationError

from cuamaster import stages
from cuamaster.errors import InvalidInput
from cuamaster.settings import Settings
from flows.items import tasks_for

Overrides = dict[str, Any]
"""Settings by name, over what the worker's environment and cuamaster.toml say."""


def open_wheel(workspace: str | None, overrides: Overrides | None) -> stages.Wheel:
    """The wheel of a workspace (None: the settings' one), its items run as Prefect tasks. Raises InvalidInput."""
    logging.getLogger("cuamaster").setLevel(logging.INFO)  # prefect.yaml sends these lines to the flow run's log
    given = dict(overrides or {})
    if workspace is not None:
        given["workspace"] = workspace
    try:
        settings = Settings(**given)
    except ValidationError as exc:
        first = exc.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"setting {name}: {first['msg']}", hint="see the flow run's parameter `settings`") from exc
    return stages.open_wheel(settings, tasks_for(settings))


def number_of(wheel: stages.Wheel, wanted: int | None) -> int:
    """The wanted round, or the newest."""
    return wanted or stages.round_to_run(wheel.workspace, advance=False)


def show(wheel: stages.Wheel, number: int) -> None:
    """Keep the round's table as an artifact of the flow run; the newest one is in the UI under `round-summary`."""
    rows = [row.model_dump() for row in stages.summarize(wheel.workspace, number)]
    create_table_artifact(rows, key="round-summary", description=f"Round {number} in {wheel.workspace.root}")
