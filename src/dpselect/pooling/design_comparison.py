"""Comparison of pooling designs by simulation: tests, errors and privacy of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from dpselect import _parallel, _validate
from dpselect._optional import needed
from dpselect.pooling.assay import Assay
from dpselect.pooling.belief_propagation import DOUBT
from dpselect.pooling.candidate_designs import (
    Claims,
    candidate_designs,
    checked_claims,
    pool_counts,
)
from dpselect.pooling.designs import Design
from dpselect.pooling.outcome_privacy import OutcomePrivacy
from dpselect.typing import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "os^v"
"""The next one when the ten colours are used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedDesign:
    """One design with the results of its simulation; public.

    Attributes:
        name: Of the design.
        pools: Number of pooled tests.
        weight: The largest number of pools that a sample is in.
        largest_pool: The largest number of samples in a pool.
        flip: Probability with which each outcome is flipped for privacy; 0 without.
        epsilon: Of the outcomes, in nats, under the relation of the comparison; infinite
            without flips.
        delta: Besides it.
        false_positives: Expected number, of the decoder's answer.
        false_negatives: Expected number, of the decoder's answer.
        exact: P[everybody's answer is right].
        retests: Expected number of people left in doubt, who are tested one by one.
        errors_after_retests: Expected number of wrong answers about everybody else; what
            remains when retests are right.
    """

    name: str
    pools: int
    weight: int
    largest_pool: int
    flip: float
    epsilon: float
    delta: float
    false_positives: float
    false_negatives: float
    exact: float
    retests: float
    errors_after_retests: float

    @property
    def tests(self) -> float:
        """Pools and expected retests together."""
        return self.pools + self.retests


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignComparison:
    """All admissible designs: fewest errors after retests first, then fewest tests in all.

    Attributes:
        n: Number of people.
        privacy: The guarantee of the outcomes; ``None`` if the lab is trusted.
        designs: The simulated designs, best first.
    """

    n: int
    privacy: OutcomePrivacy | None
    designs: tuple[SimulatedDesign, ...]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw expected errors against tests per person, one series for each kind of design.

        Args:
            ax: Axes to draw into; those of a new figure if not given.
        """
        if ax is None:
            needed("matplotlib", extra="standard")
            from matplotlib.figure import Figure

            ax = Figure(layout="constrained").add_subplot()
        names = sorted({design.name for design in self.designs})
        for number, name in enumerate(names):
            of_name = [design for design in self.designs if design.name == name]
            of_name.sort(key=lambda design: design.pools)
            errors = [one.false_positives + one.false_negatives for one in of_name]
            ax.plot(
                [one.pools / self.n for one in of_name],
                errors,
                f"{MARKERS[number // 10 % 4]}-",
                label=name,
            )
        ax.set_xlabel("pooled tests per person")
        ax.set_ylabel("expected wrong answers before retests")
        ax.set_yscale("symlog", linthresh=0.01)
        ax.legend(fontsize="small")
        return ax


def compare_designs(  # noqa: PLR0913 -- each argument is one public claim
    *,
    n: int,
    prevalence: float | None = None,
    d: int | None = None,
    max_pool_size: int | None = None,
    assay: Assay | None = None,
    privacy: OutcomePrivacy | None = None,
    pools: Sequence[int] | None = None,
    trials: int = 200,
    rng: np.random.Generator,
    progress: _parallel.Progress | None = None,
) -> DesignComparison:
    """Simulate every design that fits, with its decoder; takes no data.

    Testing one by one is always among them.

    Without noise SCOMP decodes, and those left by COMP and not by DD are in doubt. With an
    assay that errs or with flips belief propagation decodes, and those with a posterior
    within 0.05 to 0.95 are in doubt.

    Args:
        n: Number of people, at least 2.
        prevalence: P[positive] of each person, independently, in (0, 1/2); or give ``d``.
        d: Number of positives, exactly, 1 to ``n // 2``.
        max_pool_size: The largest number of samples in a pool that the assay allows.
        assay: Error probabilities of the tests; none if not given.
        privacy: The guarantee that flips are to give the outcomes; ``None`` if the lab is
            trusted.
        pools: Numbers of pools to simulate; some multiples of the information-theoretic
            lower bound, if not given.
        trials: Rounds to simulate for each design, at least 1.
        rng: The generator, for designs and rounds.
        progress: Called after each design with the number done and the number of all.

    Raises:
        ParameterError: An argument is out of range.
    """
    claims = checked_claims(
        n=n,
        prevalence=prevalence,
        d=d,
        max_pool_size=max_pool_size,
        assay=assay,
        privacy=privacy,
    )
    trials = _validate.at_least("trials", trials, 1)
    _validate.instance("rng", rng, np.random.Generator)
    found = [
        (name, design)
        for name, design in candidate_designs(claims, pool_counts(claims, pools), rng)
        if design.sum(axis=1).max() <= claims.cap
    ]
    simulated = []
    for done, (name, design) in enumerate(found, start=1):
        simulated.append(simulate_design(name, design, claims, trials=trials, rng=rng))
        if progress is not None:
            progress(done, len(found))
    simulated.sort(key=lambda one: (round(one.errors_after_retests, 1), one.tests))
    return DesignComparison(n=claims.n, privacy=privacy, designs=tuple(simulated))


def simulate_design(
    name: str, design: Design, claims: Claims, *, trials: int, rng: np.random.Generator
) -> SimulatedDesign:
    """Return tests, errors and privacy of a design, from simulated rounds."""
    from dpselect.pooling import simulation_kernels as kernels

    privacy = claims.privacy
    flip = 0.0 if privacy is None else privacy.flip(design)
    mean = _rounds(design, claims, replace(claims.assay, flip=flip), trials, rng).mean(axis=0)
    return SimulatedDesign(
        name=name,
        pools=len(design),
        weight=int(design.sum(axis=0).max()),
        largest_pool=int(design.sum(axis=1).max()),
        flip=flip,
        epsilon=inf if privacy is None else float(privacy.epsilon),
        delta=0.0 if privacy is None else float(privacy.delta),
        false_positives=float(mean[kernels.FALSE_POSITIVES]),
        false_negatives=float(mean[kernels.FALSE_NEGATIVES]),
        exact=float(mean[kernels.RIGHT]),
        retests=float(mean[kernels.DOUBTFUL]),
        errors_after_retests=float(mean[kernels.UNSEEN]),
    )


def _rounds(
    design: Design, claims: Claims, assay: Assay, trials: int, rng: np.random.Generator
) -> Values:
    """Return one row for each simulated round, whatever the number of threads."""
    from dpselect.pooling import simulation_kernels as kernels
    from dpselect.pooling.kernels import Limits, links

    chances = kernels.Chances(
        float(assay.sensitivity), float(assay.specificity), float(assay.dilution), assay.flip
    )
    setting = kernels.Setting(
        -1 if claims.positives is None else claims.positives,
        claims.prevalence,
        not assay.perfect,
        DOUBT,
        Limits(60, 0.3, 1e-4),
    )
    linked = links(design)
    seeds = rng.integers(2**31, size=trials)
    pieces = np.array_split(np.arange(trials), min(trials, _parallel.processors()))
    seen = np.empty((trials, kernels.COLUMNS))

    def work(piece: int) -> None:
        seen[pieces[piece]] = kernels.rounds(linked, chances, setting, seeds[pieces[piece]])

    _parallel.each_piece(work, [piece.size for piece in pieces])
    return seen
