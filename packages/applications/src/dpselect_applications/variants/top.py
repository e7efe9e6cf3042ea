"""The variants that are most associated with a disease."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Any

from dpselect import Facts, Neighbours, Objective, Plan, Query, Release
from dpselect.errors import ParameterError
from dpselect.extend import Claim, Design, query, validation
from dpselect.mechanisms import MechanismLike, PermuteAndFlip, TopK
from dpselect.sensitivity import GlobalSensitivity
from dpselect_applications.variants.reading import VariantRows

COUNTS = ("case_one", "case_two", "control_one", "control_two")
"""Columns of the counts, if not given."""

LEAST_SIGNIFICANCE = 1e-300
"""Half of a p-value must be a normal float."""

MOST_PEOPLE = 10**6
"""Cases, and controls, at most: a number is kept for each copy that they can have."""


@query
class TopVariants(Query[Release[Any]]):
    """The variants of a genome-wide study that are most associated with a disease.

    The score of a variant that is significant by the allelic test is the number of people whose
    genotypes can change while it stays significant; otherwise it is minus the number who must
    change until it is. One person changes a score by at most 1 at every allele frequency,
    although they can change the statistic itself by several.

    Data are a table with a row for each variant, or an array of the four counts
    (``genotype_counts``). The answer has the variants in the order drawn, by their names or row
    numbers. A count below 0 counts as 0, and one above the number of people as that number.

    Guarantee:
        ``epsilon``-DP under ``Neighbours.SUBSTITUTE``: neighbours differ in the genotypes of
        one person, at all variants. It is public who is a case, and which variants there are; a
        variant must not be omitted because of its counts. Count a missing call as no copy. All
        fields are public.

    Attributes:
        label: Column of the names of the variants.
        counts: Four columns: cases with one copy and with two, controls with one and with two.
            Which allele is counted does not matter. The others have no copy.
        variants: Number of variants.
        cases: Number of people with the disease; at most 1,000,000.
        controls: Number of people without the disease; at most 1,000,000.
        significance: The p-value at which a variant is significant; in [1e-300, 1). By default
            that of a genome-wide study. Not derived from the data.
        k: Number of variants to release.
        epsilon: Price of the release, in nats; finite, > 0.
        mechanism: Mechanism that draws the variants. A short name
            (``dpselect.mechanisms.MECHANISMS``), or a function of ``epsilon=``; by default
            permute-and-flip.

    Source: Johnson and Shmatikov, KDD 2013 (distance to significance); Simmons and Berger,
        Cell Systems 2016 (in constant time for the allelic test).

    Examples:
        >>> import dpselect as dp
        >>> counts = [[400, 300, 300, 100], [420, 90, 410, 100], [480, 250, 490, 240]]
        >>> top = dp.TopVariants(variants=3, cases=1000, controls=1000, k=1, epsilon=1.0)
        >>> top.release(counts).answer
        (0,)
    """

    label: Annotated[str, Claim()] = "variant"
    counts: Sequence[str] = COUNTS
    variants: Annotated[int, Claim()]
    cases: Annotated[int, Claim()]
    controls: Annotated[int, Claim()]
    significance: float = 5e-8
    k: int
    epsilon: float
    mechanism: MechanismLike | None = None

    def heads(self) -> tuple[str, str]:
        return self.label, ""

    def design(self) -> _Variants:
        validation.instance("label", self.label, str)
        if len(set(self.counts)) != len(COUNTS) or self.label in self.counts:
            raise ParameterError("`counts` must name four columns, none of them the `label`")
        rows = VariantRows(
            variants=validation.at_least("variants", self.variants, 1),
            label=self.label,
            counts=self.counts,
            cases=validation.at_least("cases", self.cases, 1, MOST_PEOPLE),
            controls=validation.at_least("controls", self.controls, 1, MOST_PEOPLE),
        )
        facts = _facts(rows.variants)
        draw = TopK.choose(
            facts,
            k=self.k,
            above=None,
            mechanism=self.mechanism,
            rounds=PermuteAndFlip(epsilon=self.epsilon),
            of="variants",
        )
        return _Variants(
            plan=draw.plan(
                facts,
                "people",
                public=(
                    "the variants",
                    f"the {rows.cases:,} cases and the {rows.controls:,} controls",
                ),
            ),
            exact=draw.mechanism.exact,
            rows=rows,
            statistic=_statistic(self.significance),
            draw=draw,
        )

    def objective(self, data: object) -> Objective:
        """Return the objective that a release draws by, to measure on public data; private.

        Args:
            data: As for a release.
        """
        return self.design().objective(data)


@dataclass(frozen=True, kw_only=True)
class _Variants(Design[Release[Any]]):
    rows: VariantRows
    statistic: float
    draw: TopK

    def objective(self, data: object) -> Objective:
        from dpselect_applications.variants.distances import distances, least_differences

        counts, names = self.rows.read(data)
        people = self.rows.cases, self.rows.controls
        least = least_differences(*people, self.statistic)
        return _facts(len(names)).of(distances(counts, *people, least), names)

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        return self.draw.prepare(self.objective(data))


def _facts(variants: int) -> Facts:
    return Facts(
        candidates=variants, sensitivity=GlobalSensitivity(1, Neighbours.SUBSTITUTE), step=1
    )


def _statistic(significance: float) -> float:
    """Return the value of chi-square with one degree of freedom at a p-value."""
    p = validation.finite("significance", significance)
    if not LEAST_SIGNIFICANCE <= p < 1:
        raise ParameterError(
            f"`significance` must be at least {LEAST_SIGNIFICANCE:g} and below 1, not {p:g}"
        )
    return NormalDist().inv_cdf(p / 2) ** 2
