"""Turns of phrase, in more than one language."""

from __future__ import annotations

import pytest

from cuamaster.adapters.annotators import cues


@pytest.mark.parametrize(
    ("cue", "text"),
    [
        (cues.PAID, "Dieses Video wird unterstützt von Aktenfix."), (cues.PAID, "Este vídeo está patrocinado por Nubella."), (cues.PAID, "本视频由某某赞助"),
        (cues.PAID, "Enlace directo en la descripción"), (cues.APPEAL, "Suscríbete al canal"), (cues.APPEAL, "klicken Sie auf die Glocke"),
        (cues.CLOSING, "Bis zum nächsten Mal, danke fürs Zuschauen"), (cues.RETURN, "Wo waren wir?"), (cues.RETURN, "Bueno, seguimos."),
        (cues.TOLD, "Die Ordner habe ich gestern schon angelegt und umbenannt"), (cues.NEW_TASK, "Die nächste Aufgabe"), (cues.DONE, "Perfecto."),
    ],
)  # fmt: skip
def test_said(cue: object, text: str) -> None:
    assert cue.search(text), text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("cue", "text"),
    [
        (cues.PAID, "Type the price in cell B2"), (cues.PAID, "Choose Free Select in the toolbox"), (cues.APPEAL, "Click the Like operator"),
        (cues.TOLD, "Click File and choose Open"), (cues.RETURN, "Press backspace"), (cues.CLOSING, "Click Next"),
    ],
)  # fmt: skip
def test_not_said(cue: object, text: str) -> None:
    assert not cue.search(text), text  # type: ignore[attr-defined]
