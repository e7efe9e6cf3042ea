"""Releases of the variants most associated with a disease: one person's genotypes changed."""

import numpy as np

from dpselect_applications.variants import TopVariants, genotype_counts
from dpselect_conformance import ReleaseCase

VARIANTS, CASES_OF_DISEASE, CONTROLS = 6, 5, 7


def pair(rng):
    """Return counts of random genotypes, and of the same with one person replaced."""
    is_case = np.arange(CASES_OF_DISEASE + CONTROLS) < CASES_OF_DISEASE
    copies = rng.integers(0, 3, size=(is_case.size, VARIANTS))
    changed = copies.copy()
    changed[rng.integers(is_case.size)] = rng.integers(0, 3, size=VARIANTS)
    return tuple(genotype_counts(one, is_case) for one in (copies, changed))


def case(name, **more):
    asked = {"cases": CASES_OF_DISEASE, "controls": CONTROLS, "significance": 0.05, **more}
    query = TopVariants(variants=VARIANTS, epsilon=1.0, **asked)
    return ReleaseCase(f"TopVariants, {name}", query, pair)


CASES = [
    case("one", k=1),
    case("three", k=3),
    case("exponential", k=2, mechanism="exponential"),
]
