"""The variants of a genome-wide study that are most associated with a disease.

:class:`TopVariants` draws them by how many people lie between each one and significance;
:func:`genotype_counts` makes its table.
"""

from dpselect._help import clean_room
from dpselect.variants.reading import genotype_counts
from dpselect.variants.top import TopVariants

__all__ = ["TopVariants", "genotype_counts"]

clean_room(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)
