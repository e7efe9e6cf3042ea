"""Refusals of pooled tests: designs, decoders, noise, worksheets and comparisons."""

from fractions import Fraction

import numpy as np

import dpselect as dp
import dpselect_pooling as pooling
from dpselect.errors import DataError, NeighboursError
from support.refusals import Each, refusing, releasing

RNG = np.random.default_rng(0)
DESIGN = pooling.array_2d(12, rows=3, columns=4)
ERRS = pooling.Assay(sensitivity=0.9)
SAMPLES = [f"S{i}" for i in range(12)]
EDGE = dp.Neighbours.EDGE

ASSAY = refusing(pooling.Assay)
COMP = refusing(pooling.comp, design=np.eye(3), outcomes=[1, 0, 1])
BELIEF = refusing(pooling.belief_propagation, np.eye(2), [0, 1], prevalence=0.1)
INTEGER = refusing(pooling.integer_program, np.eye(2), [0, 1], assay=ERRS)
SCREENING = refusing(pooling.Screening, n=60, d=2)
COMPARED = refusing(pooling.compare_designs, pooling.Screening(n=60, d=2), trials=2, rng=RNG)
BERNOULLI = refusing(pooling.bernoulli, 5, 5, probability=0.5, rng=RNG)
FLIPS = refusing(pooling.flip_epsilon, np.eye(2), flip=0.1, neighbours="swap")
PRIVACY = refusing(pooling.OutcomePrivacy, epsilon=1.0, neighbours="swap")
OUTCOMES = releasing(
    pooling.PooledOutcomes, data=[True] * 7, matrix=DESIGN, flip=0.1, neighbours="swap"
)
REPLACED = refusing(pooling.ReplacedSamples, people=5, beta=1)
NOISE = refusing(pooling.JointNoise)
JOINT = refusing(
    pooling.SwappedPools, matrix=DESIGN, joint={"2" * 7: 1}, epsilon=1.0, neighbours="swap"
)
VALID = pooling.Results(np.arange(7) < 1, np.ones(7, dtype=bool))
DECODE = refusing(pooling.decode, SAMPLES, DESIGN, VALID)
SHEET = refusing(pooling.Worksheet, samples=SAMPLES, design=DESIGN)

ROWS = [
    ASSAY("", sensitivity=0.5, specificity=0.5),
    ASSAY("sensitivity", sensitivity=1.2),
    ASSAY("flip", flip=0.5),
    ASSAY("dilution", dilution=-1.0),
    COMP("", DataError, outcomes=Each([[], [True, False], [0, 1, 2], [[True] * 3]])),
    *(
        refusing(decoder, np.eye(2), [True], **more)("", DataError)
        for decoder, more in (
            (pooling.dd, {}),
            (pooling.scomp, {}),
            (pooling.integer_program, {}),
            (pooling.belief_propagation, {"prevalence": 0.1}),
        )
    ),
    COMP("design", design=Each([np.ones(3), 2 * np.eye(3)])),
    COMP("negative_allowed", negative_allowed=-1),
    refusing(pooling.outcomes, np.eye(3), [True])("", DataError),
    refusing(pooling.outcomes, np.eye(2), [True, False])("states", states=(3, 1)),
    BELIEF("prevalence", prevalence=0.0),
    BELIEF("damping", damping=1.0),
    INTEGER("prevalence", prevalence=0.6),
    INTEGER("prevalence"),
    SCREENING("d", prevalence=0.1),
    SCREENING("d", d=None),
    SCREENING("prevalence", d=None, prevalence=0.5),
    SCREENING("d", d=31),
    SCREENING("n", n=1),
    SCREENING("privacy", privacy=2.0),
    COMPARED("trials", trials=0),
    SCREENING("max_pool_size", max_pool_size=0),
    SCREENING("max_transfers", max_transfers=59),
    COMPARED("pools", pools=[0]),
    SCREENING("assay", assay=0.9),
    BERNOULLI("probability", probability=0),
    BERNOULLI("rng", rng=1),
    refusing(pooling.bernoulli, 0, 5, probability=0.5, rng=RNG)("people"),
    refusing(pooling.doubly_balanced, 5, 3, weight=0, rng=RNG)("weight"),
    refusing(pooling.doubly_balanced, 9, 2, weight=3, max_pool_size=10, rng=RNG)(""),
    refusing(pooling.dorfman, 5, pool_size=0)("pool_size"),
    refusing(pooling.kautz_singleton, 50)("d", d=0),
    FLIPS("flip", flip=0.0),
    FLIPS("", NeighboursError, neighbours=EDGE),
    PRIVACY("delta", delta=Each([1.0, -0.1])),
    PRIVACY("epsilon", epsilon=0.0),
    PRIVACY("", NeighboursError, neighbours=Each([EDGE, "statuses"])),
    OUTCOMES("flip", flip=Each([0.0, 0.5, 0.6, float("nan"), Fraction(3, 5), "0.1"])),
    OUTCOMES("", NeighboursError, neighbours="edge"),
    OUTCOMES("design", matrix=np.ones(3)),
    OUTCOMES("", DataError, data=Each([[True], [0, 1, 2, 0, 0, 0, 0]])),
    REPLACED("beta", beta=Each([6, -1])),
    REPLACED("people", people=0),
    JOINT("joint", d=1),
    refusing(pooling.IndependentNoise)("", clean=0.6, contaminated=0.4),
    refusing(pooling.IndependentNoise)("clean", clean=-0.1, contaminated=0.4),
    NOISE("weights", weights=Each([{"10": 0}, {(1, 0): 1}, {"10": 2**51}])),
    NOISE("", weights=Each([{}, {"0": 1, "01": 1}, {"0" * 11: 1}, {"30": 1}])),
    refusing(pooling.JointNoise({"10": 1}).draw, 3)(""),
    refusing(pooling.noise_of_replaced, np.eye(40), beta=20)(""),
    DECODE("method", method="magic"),
    DECODE("prevalence", method="belief-propagation"),
    DECODE("prevalence", assay=ERRS),
    DECODE("prevalence", assay=ERRS, method="integer-program"),
    DECODE("", assay=ERRS, method="scomp"),
    DECODE("", DataError, replaced=["S99"]),
    SHEET("wells", wells=24),
    SHEET("", samples=SAMPLES[:-1]),
    SHEET("", replaced=(12,)),
    SHEET("", DataError, samples=["a"] * 12),
]
