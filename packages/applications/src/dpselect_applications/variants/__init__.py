"""The variants of a genome-wide study that are most associated with a disease.

``TopVariants`` draws them by their distance from significance, in people; ``genotype_counts``
makes its table.
"""

from dpselect_applications.variants.reading import genotype_counts
from dpselect_applications.variants.top import TopVariants

__all__ = ["TopVariants", "genotype_counts"]


def __dir__() -> list[str]:
    return sorted(__all__)
