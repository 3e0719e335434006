"""Plans what to search for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from cuamaster.records.episode import RoundPlan
from cuamaster.records.taxonomy import App, Taxonomy
from cuamaster.records.video import Query

OVERSHOOT = 4
"""Candidates wanted for each video that is to survive the filters."""


def plan_queries(
    taxonomy: Taxonomy, plan: RoundPlan, language: str, *, providers: Sequence[str] = ("local",)
) -> list[Query]:
    """Searches of one round: for each planned application its name with every action word of the language.

    A folder or feed (provider `local`) has no search engine to please: it gets the bare names. Raises UnknownName for an
    application that the taxonomy does not have, and for a language without words.
    """
    queries: list[Query] = []
    for cell in plan.cells:
        app = taxonomy.app(cell.app)
        if not cell.videos:
            continue
        for provider in providers:
            texts = list(app.names) if provider == "local" else _texts(app, taxonomy.words_for(language).actions)
            limit = max(1, math.ceil(cell.videos * OVERSHOOT / (1 if provider == "local" else len(texts))))
            queries += [
                Query(text=text, app=app.id, provider=provider, language=language, limit=limit) for text in texts
            ]
    return list(dict.fromkeys(queries))


def _texts(app: App, actions: Iterable[str]) -> list[str]:
    return [word.format(app=app.name) if "{app}" in word else f"{app.name} {word}" for word in actions]
