"""The laws of the page are those of Python, in 10,000 cases."""

import json

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import dpselect as dp
from dpselect.extend import sorted_probabilities
from dpselect.mechanisms import by_name
from dpselect.percentiles import percentile_rank
from dpselect_planner import assembly, clocks

RELATIONS = ("add-remove", "substitute")
DRAWS = {
    "exponential": dp.ExponentialMechanism,
    "permuteAndFlip": dp.PermuteAndFlip,
    "noisyMax": dp.ReportNoisyMax,
}

CALLS = """
const DRAWS = { exponential, permuteAndFlip, noisyMax };
const CALLS = {
  by_global: (a) => DRAWS[a.draw](byGlobal(a.scores, a.bound, a.monotone), a.epsilon),
  dampened: (a) => DRAWS[a.draw](dampened(a.scores, a.deltas, a.bound), a.epsilon),
  shifted: (a) => DRAWS[a.draw](shifted(a.scores, a.deltas, a.bound, a.rising), a.epsilon),
  generalized: (a) => DRAWS[a.draw](
    generalized(a.scores, a.bounds, penalty(a.scores.length, a.epsilon)), a.epsilon),
  percentile: (a) => DRAWS[a.draw](byGlobal(rankScores(ranksOf(a.values, a.candidates), a.p),
    rankBound(a.p / 100, a.neighbours), false), a.epsilon),
  one_by_one: (a) => oneByOne(
    ranksOf(a.values, a.candidates), a.p, a.epsilon, a.neighbours, DRAWS[a.draw]),
  rounds: (a) => [...inclusion(clocks(a.scores, a.epsilon, a.k), a.scores.length, a.k),
    allBefore(clocks(a.scores, a.epsilon, a.k), a.chosen)],
  sequence: (a) => [
    ...inclusion(noisyValues(a.scores, a.scale), a.scores.length, a.k),
    allBeforeBest(a.scores, a.scale, a.chosen)],
  keys: (a) => {
    const law = KEY_METHODS[a.method](a.epsilon, a.delta, a.changed);
    return a.people.map(law.shown);
  },
  subset: (a) => [subsetDelta(a, a.at), ...subsetErrors(a)],
  response: (a) => randomisedResponse(a.epsilon, 2, a.truth),
};
const answers = (cases) =>
  JSON.stringify(JSON.parse(cases).map(({ law, ...rest }) => CALLS[law](rest)));
"""


HOW_OFTEN = {
    "by_global": 1800, "local": 1000, "generalized": 500, "percentile": 620, "one_by_one": 35,
    "top": 30, "keys": 200, "subsets": 150, "response": 300,
}  # fmt: skip
"""Calls of each function below, whose names these are; each gives one law or a few."""


def cases(rng):
    """Yield pairs of arguments and Python's law."""
    for name, times in HOW_OFTEN.items():
        for _ in range(times):
            yield from globals()[name](rng)


def drawn_by(rng):
    """The draws to compare; the noisy maximum takes Python longest and comes less often."""
    names = list(DRAWS) if rng.random() < 0.06 else list(DRAWS)[:2]
    return [(name, DRAWS[name]) for name in names]


def epsilon(rng):
    return float(np.exp(rng.uniform(np.log(0.01), np.log(20))))


def scores_of(rng, n):
    """Real numbers, small integers with ties, or counts."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.normal(0, 5, n)
    return rng.integers(0, 6 if kind == 1 else 300, n).astype(float)


def size(rng):
    return int(rng.choice([1, 2, 3, 5, 8, 13, 21, 40, 300], p=[0.05, *[0.134] * 7, 0.012]))


def by_global(rng):
    scores, bound, monotone = scores_of(rng, size(rng)), rng.uniform(0.3, 3), rng.random() < 0.5
    e = epsilon(rng)
    objective = dp.Objective(
        scores, dp.GlobalSensitivity(bound, "edge"), monotone=bool(monotone)
    )
    for draw, mechanism in drawn_by(rng):
        yield (
            {
                "law": "by_global",
                "scores": scores,
                "bound": bound,
                "monotone": monotone,
                "epsilon": e,
                "draw": draw,
            },
            mechanism(epsilon=e).probabilities(objective),
        )


def local(rng):
    n, horizon = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    scores, bound = scores_of(rng, n), 4.0
    deltas = np.sort(rng.uniform(0.1, bound, (horizon, n)), axis=0)
    # Some candidates cannot change within a few steps.
    deltas[np.arange(horizon)[:, None] < rng.integers(-3, horizon + 1, n)] = 0
    e, rising = epsilon(rng), bool(rng.random() < 0.5)
    sensitivity = dp.ElementSensitivity(deltas.__getitem__, bound, "edge", horizon=horizon)
    objective = dp.Objective(scores, sensitivity)
    asked = {"scores": scores, "deltas": deltas, "bound": bound, "epsilon": e}
    flip = dp.draws.PermuteAndFlip()
    direction = "non-decreasing" if rising else "non-increasing"
    yield (
        dict(asked, law="dampened", draw="exponential"),
        dp.LocalDampening(epsilon=e).probabilities(objective),
    )
    yield (
        dict(asked, law="dampened", draw="permuteAndFlip"),
        dp.LocalDampening(epsilon=e, draw=flip).probabilities(objective),
    )
    yield (
        dict(asked, law="shifted", draw="exponential", rising=rising),
        dp.ShiftedLocalDampening(epsilon=e, direction=direction).probabilities(objective),
    )


def generalized(rng):
    n, e = int(rng.integers(2, 15)), epsilon(rng)
    scores, bounds = scores_of(rng, n), rng.uniform(0.2, 5, n)
    objective = dp.Objective(scores, dp.GlobalSensitivity(bounds, "edge"))
    yield (
        {
            "law": "generalized",
            "scores": scores,
            "bounds": bounds,
            "epsilon": e,
            "draw": "exponential",
        },
        dp.GeneralizedExponential(epsilon=e).probabilities(objective),
    )


def numbers(rng, candidates):
    """Values on and off the grid of candidates, and beyond it."""
    n = int(rng.integers(0, 60))
    if rng.random() < 0.5:
        return rng.choice(candidates, n)
    return rng.normal(candidates.mean(), np.ptp(candidates) / 2, n)


def percentile(rng):
    candidates = np.linspace(0, rng.integers(1, 50), int(rng.integers(2, 30)))
    asked = {
        "values": numbers(rng, candidates),
        "candidates": candidates,
        "p": float(rng.uniform(1, 100)),
        "neighbours": RELATIONS[rng.integers(2)],
        "epsilon": epsilon(rng),
    }
    if asked["neighbours"] == "substitute" and asked["values"].size == 0:
        asked["values"] = candidates[:1]
    objective = percentile_rank(
        asked["values"],
        p=asked["p"],
        candidates=candidates,
        form="signed",
        neighbours=asked["neighbours"],
    )
    for draw, mechanism in drawn_by(rng):
        law = mechanism(epsilon=asked["epsilon"]).probabilities(objective)
        yield dict(asked, law="percentile", draw=draw), law


def one_by_one(rng):
    candidates = np.arange(float(rng.integers(3, 20)))
    percents = np.sort(rng.choice(np.arange(5, 100, 5), 3, replace=False)).astype(float)
    asked = {
        "values": numbers(rng, candidates),
        "candidates": candidates,
        "p": percents,
        "epsilon": epsilon(rng),
        "neighbours": RELATIONS[rng.integers(2)],
    }
    if asked["neighbours"] == "substitute" and asked["values"].size == 0:
        asked["values"] = candidates[:1]
    for draw, name in (("exponential", "exponential"), ("permuteAndFlip", "permute-and-flip")):
        each = by_name(name, asked["epsilon"] / percents.size)
        of = {"candidates": candidates, "neighbours": asked["neighbours"], "form": "signed"}
        objectives = (percentile_rank(asked["values"], p=p, **of) for p in percents)
        laws = sorted_probabilities([each.probabilities(one) for one in objectives])
        yield dict(asked, law="one_by_one", draw=draw), laws


def top(rng):
    n = int(rng.integers(2, 12))
    scores, k, e = rng.integers(0, 40, n), int(rng.integers(1, n + 1)), epsilon(rng)
    chosen = np.isin(np.arange(n), np.argsort(-scores, kind="stable")[:k])
    yield (
        {"law": "rounds", "scores": scores, "epsilon": e, "k": k, "chosen": chosen},
        [
            *clocks.included(scores * 1.0, e, k),
            clocks.all_before(scores * 1.0, e, chosen),
        ],
    )
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, "edge", l1=2), step=1)
    noisy = dp.NoisySequence(epsilon=max(e, 0.2))
    yield (
        {
            "law": "sequence",
            "scores": scores,
            "scale": 2 / noisy.epsilon,
            "k": k,
            "chosen": chosen,
        },
        [*noisy.inclusion(objective, k), noisy.set_probability(objective, chosen)],
    )


def keys(rng):
    people = np.unique(rng.integers(0, 400, 12))
    e, delta = float(rng.uniform(0.1, 5)), float(10 ** rng.uniform(-10, -2))
    per_user, relation = int(rng.choice([1, 1, 2, 5])), RELATIONS[rng.integers(2)]
    changed = per_user * (2 if relation == "substitute" else 1)
    methods = ("optimal", "laplace", *(("gaussian",) if rng.random() < 0.01 else ()))
    for method in methods:
        yield (
            {
                "law": "keys",
                "people": people,
                "epsilon": e,
                "delta": delta,
                "changed": changed,
                "method": method,
            },
            dp.Keys(
                column="key",
                user="person",
                max_per_user=per_user,
                method=method,
                epsilon=e,
                delta=delta,
                neighbours=relation,
            ).probabilities(people),
        )


def subsets(rng):
    n = int(rng.integers(2, 60))
    d = int(rng.integers(1, n))
    e, at = float(rng.uniform(0, 4)), float(rng.uniform(0, 4))
    for scheme in ("pure", "optimal", "ball", "union"):
        most = n if scheme == "union" else min(d, n - d)
        failure = float(rng.choice([0, 0.01, 0.3])) if scheme == "optimal" else 0.0
        asked = {
            "n": n,
            "d": d,
            "beta": int(rng.integers(0, most + 1)),
            "epsilon": e,
            "failure": failure,
            "scheme": scheme,
        }
        query = dp.Subset(**asked | ({"beta": None} if scheme == "pure" else {}))
        yield dict(asked, law="subset", at=at), [query.delta_at(at), *query.masses()]


def response(rng):
    """One status of two, flipped with the probability that Statuses has."""
    e = epsilon(rng)
    for truth in (0, 1):
        lie = 1 / (1 + np.exp(e))
        yield (
            {"law": "response", "epsilon": e, "truth": truth},
            [1 - lie, lie] if truth == 0 else [lie, 1 - lie],
        )


def encoded(asked):
    """Return the arguments of all cases as JSON."""
    return json.dumps(asked, default=lambda one: one.tolist())


TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def page():
    engine = MiniRacer()
    engine.eval(assembly.laws() + CALLS)
    return engine


def differences(page, cases):
    """Return the largest difference of each law from the page's."""
    asked, expected = zip(*cases, strict=True)
    answers = json.loads(page.call("answers", encoded(asked)))
    return [
        float(np.abs(np.subtract(ours, theirs)).max())
        for ours, theirs in zip(expected, answers, strict=True)
    ], [one["law"] for one in asked]


@pytest.mark.slow
def test_every_law_of_the_page_is_that_of_python(page, record_property):
    worst = {}
    found, names = differences(page, cases(np.random.default_rng(20)))
    for difference, law in zip(found, names, strict=True):
        worst[law] = max(worst.get(law, 0.0), difference)
    record_property("worst", worst)

    assert len(found) >= 10_000
    assert max(worst.values()) <= TOLERANCE, worst
