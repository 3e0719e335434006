"""What the stages from search to reconstruction need."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.ports import Annotator, SeedingPorts, Transcriber
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.settings import Settings
from cuamaster.wiring.reading import frames, reader, title_embedder
from cuamaster.wiring.videos import sources
from cuamaster.wiring.workspace import chat, meter, store


def transcribers(settings: Settings) -> tuple[Transcriber, ...]:
    """Captions first, then speech recognition."""
    from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper
    from cuamaster.adapters.transcribers.sidecar import Sidecar

    return Sidecar(settings.language), FasterWhisper(settings.whisper_model, language=settings.language)


def annotator(settings: Settings, taxonomy: Taxonomy) -> Annotator:
    """The embedded rules, or a model behind an OpenAI-compatible endpoint."""
    if settings.annotator == "openai_api":
        from cuamaster.adapters.annotators.openai_api import OpenAIAnnotator

        return OpenAIAnnotator(chat(settings, meter(settings)), taxonomy)
    from cuamaster.adapters.annotators.rules import RulesAnnotator

    return RulesAnnotator(taxonomy)


def seeding_ports(settings: Settings, taxonomy: Taxonomy, places: Sequence[str] = ()) -> SeedingPorts:
    """What the stages from search to reconstruction need."""
    return SeedingPorts(
        sources=sources(settings, places),
        frames=frames(),
        transcribers=transcribers(settings),
        annotator=annotator(settings, taxonomy),
        embedder=title_embedder(),
        reader=reader(settings),
        store=store(settings),
    )
