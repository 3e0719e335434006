"""`python -m flows.deploy`: makes the work pool where it is missing, then deploys what prefect.yaml lists.

Run it from the checkout, against the server that PREFECT_API_URL names; again after a change. The concurrency limits and the watch over
dead runs are made by prefect.yaml's build step, so that `prefect deploy --all` makes them too: without them a server lets everything
through, and takes a run whose process was killed for a running one.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import Any

from prefect import get_client
from prefect.automations import AutomationCore, ChangeFlowRunState, EventTrigger, Posture, ResourceSpecification
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate, WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.workers.process import ProcessWorker

from flows.items import LIMITS

POOL = "cuamaster"
SILENCE_SECONDS = 180
"""A flow run that sent no heartbeat for so long (prefect.yaml: one every 30 s) is dead; its deployment's slot is given back."""
DEAD_RUNS = AutomationCore(
    name="cuamaster: crash dead flow runs",
    trigger=EventTrigger(
        after={"prefect.flow-run.heartbeat"},
        expect={
            "prefect.flow-run.heartbeat",
            "prefect.flow-run.Completed",
            "prefect.flow-run.Failed",
            "prefect.flow-run.Cancelled",
            "prefect.flow-run.Crashed",
        },
        match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=timedelta(seconds=SILENCE_SECONDS),
    ),
    actions=[ChangeFlowRunState(state=StateType.CRASHED, message="no heartbeat: its process or machine died")],
)


def prepare() -> dict[str, Any]:
    """Make the limits and the automation that are missing; what is there stays as its owner set it."""
    with get_client(sync_client=True) as client:
        for name, slots in LIMITS.items():
            try:
                client.read_global_concurrency_limit_by_name(name)
            except ObjectNotFound:
                client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=name, limit=slots))
        if client.find_automation(DEAD_RUNS.name) is None:
            client.create_automation(DEAD_RUNS)
    return {}


def make_pool() -> None:
    """Make the work pool if it is missing."""
    template = ProcessWorker.get_default_base_job_template()
    with get_client(sync_client=True) as client:
        try:
            client.create_work_pool(WorkPoolCreate(name=POOL, type=ProcessWorker.type, base_job_template=template))
        except ObjectAlreadyExists:
            return


def main() -> int:
    """Make the pool, then `prefect deploy --all`; returns its exit code."""
    make_pool()
    return subprocess.run([sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
