"""The workspace's blobs and its ledger of model calls, and the endpoint whose calls are written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuamaster.errors import InvalidInput
from cuamaster.ports import Store
from cuamaster.settings import Settings

if TYPE_CHECKING:
    from cuamaster.adapters.chat import ChatClient
    from cuamaster.adapters.meters.jsonl import JsonlMeter


def store(settings: Settings) -> Store:
    """Blobs of the workspace."""
    from cuamaster.adapters.stores.local import LocalStore

    return LocalStore(settings.workspace / "blobs")


def meter(settings: Settings) -> JsonlMeter:
    """The workspace's ledger of model calls, with the budgets of the settings."""
    from cuamaster.adapters.meters.jsonl import JsonlMeter

    return JsonlMeter(
        settings.workspace / "usage.jsonl",
        budget_usd=settings.api_budget_usd,
        budget_tokens=settings.api_budget_tokens,
    )


def chat(settings: Settings, on_meter: JsonlMeter) -> ChatClient:
    """The endpoint of the settings, its calls within the ledger's budgets. Raises InvalidInput when none is set."""
    from cuamaster.adapters.chat import ChatClient

    if not settings.api_base or not settings.api_model:
        raise InvalidInput("openai_api needs an endpoint", hint="set CUAMASTER_API_BASE and CUAMASTER_API_MODEL")
    return ChatClient(
        settings.api_base,
        settings.api_key,
        settings.api_model,
        settings.api_timeout_s,
        on_meter.record,
        price_prompt=settings.api_price_prompt,
        price_completion=settings.api_price_completion,
        before_call=on_meter.check,
    )
