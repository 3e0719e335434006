"""A desktop's screen as exported rows show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuamaster.exports.pictures import Picture, scaled
from cuamaster.ports import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Shown


def screen(image: Image, max_side: int | None) -> Shown:
    """The picture, its longer side at most `max_side` pixels."""
    from PIL import Image as pictures  # noqa: N813

    height, width = image.shape[:2]
    whole = Picture("", width, height)
    wanted, made = whole.fitted(max_side), pictures.fromarray(image)
    return made if wanted == whole else scaled(made, wanted)
