"""Prefect plugin: a deployment named like its flow is found by that one name, as in `prefect deployment run collect-trajectories`.

Stock Prefect wants `<flow>/<deployment>`. Names with a slash are passed on untouched, so nothing that worked before changes.
The client classes live in a private module, hence the pin on Prefect's minor version; should they move, `name/name` still works.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prefect.plugins import register_hook

from cuamaster.errors import MissingDependency

if TYPE_CHECKING:
    from prefect.plugins import HookContext

METHOD = "read_deployment_by_name"
_MARK = "_cuamaster_full_name"


def full_name(name: str) -> str:
    """`x` -> `x/x`; a name with a slash stays as it is."""
    return name if "/" in name else f"{name}/{name}"


@register_hook
def setup_environment(*, ctx: HookContext) -> None:
    """Called by Prefect at the start of every command; doing it twice changes nothing. Raises MissingDependency."""
    try:
        from prefect.client.orchestration._deployments.client import DeploymentAsyncClient, DeploymentClient
    except ImportError as exc:
        raise _moved(ctx.prefect_version) from exc
    for client in (DeploymentClient, DeploymentAsyncClient):
        method = getattr(client, METHOD, None)
        if method is None:
            raise _moved(ctx.prefect_version)
        if not hasattr(method, _MARK):
            setattr(client, METHOD, _with_full_name(method))


def _with_full_name(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def read(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return method(self, full_name(name), *args, **kwargs)

    setattr(read, _MARK, True)
    return read


def _moved(version: str) -> MissingDependency:
    return MissingDependency(
        f"Prefect {version} keeps its deployment client elsewhere than 3.9 did",
        hint="write both names, as in `prefect deployment run collect-trajectories/collect-trajectories`, or install prefect>=3.9,<3.10",
    )
