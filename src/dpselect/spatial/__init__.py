"""Maps of points whose cells were chosen privately, for the queries that matter.

:func:`release_histogram` is the whole of it; :func:`grid_error` is the objective behind it, for
any mechanism. Names that end in ``_not_private`` are the baselines of experiments.
"""

from dpselect.spatial.box import Box
from dpselect.spatial.error import grid_error
from dpselect.spatial.forms import (
    Form,
    RelativeCappedSize,
    RelativeClipped,
    RelativeKnownSize,
    Weighted,
)
from dpselect.spatial.histogram import Answer, SpatialHistogram
from dpselect.spatial.plan import Plan, plan_histogram
from dpselect.spatial.privtree import PrivTree
from dpselect.spatial.publish import release_histogram
from dpselect.spatial.rules import AdaptiveGrid, Guideline, Quadtree
from dpselect.spatial.shares import Shares
from dpselect.spatial.workload import even_queries

__all__ = [
    "AdaptiveGrid",
    "Answer",
    "Box",
    "Form",
    "Guideline",
    "Plan",
    "PrivTree",
    "Quadtree",
    "RelativeCappedSize",
    "RelativeClipped",
    "RelativeKnownSize",
    "Shares",
    "SpatialHistogram",
    "Weighted",
    "even_queries",
    "grid_error",
    "plan_histogram",
    "release_histogram",
]
