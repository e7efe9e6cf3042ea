"""Maps of points whose cells were chosen privately."""

from dpselect.spatial.box import Box
from dpselect.spatial.error import grid_error
from dpselect.spatial.forms import (
    RelativeCappedSize,
    RelativeClipped,
    RelativeKnownSize,
    Weighted,
)

__all__ = [
    "Box",
    "RelativeCappedSize",
    "RelativeClipped",
    "RelativeKnownSize",
    "Weighted",
    "grid_error",
]
