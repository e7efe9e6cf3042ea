"""Scores of one's own: every mechanism draws the largest, in their order."""

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.mechanisms import MECHANISMS
from truth.calls import Call, Slack, best_first, made, released
from truth.question import Question

ONLY_FLAT = dict.fromkeys(
    ["local-dampening", "shifted", "anchored"],
    "plain, shifted and anchored dampening miss it on some graphs, at any epsilon",
)
"""Mechanisms that by design do not find the best where sensitivities differ, and the
sentence of docs/own.md that says so: they are asked where one is the same
for all, as of degrees."""

NEAR = {"anchored", "pairwise"}
"""Mechanisms whose scores are near the public anchor, or are compared step by step."""

CLASSES = {name: f"dp.mechanisms.{kind.__name__}" for name, kind in MECHANISMS.items()}
RELATIONS = st.sampled_from(["add-remove", "substitute", "edge"])
EPSILONS = st.sampled_from([200.0, 1e4, 1e6])

small = st.integers(-20, 20)
any_units = st.one_of(
    small,
    st.integers(-80, 80).map(lambda q: q / 4),
    st.integers(-(10**6), 10**6),
    st.sampled_from(
        [0, 1, 1, 2.0**30, 2.0**30 + 1, 2.0**31, 3e9, -3e9, 2.0**36, 1e12, 1e12 + 5]
    ),
)


@st.composite
def scores_of(draw, bound, *, near):
    """Scores in steps of a bound: of both signs, tied, or far ahead."""
    units = st.lists(small, min_size=1, max_size=8)
    units = draw(units if near else units | st.lists(any_units, min_size=1, max_size=8))
    return [one * bound for one in units]


def by_table(table):
    """Return the sensitivity of each candidate at a distance; its last row from there on."""
    return lambda distance: np.array(table[min(distance, len(table) - 1)], dtype=float)


@st.composite
def sensitivities(draw, n, bound, relation, *, flat):
    """The same bound for all, one of each, or a local one by candidate or for all."""
    kind = "flat" if flat else draw(st.sampled_from(["flat", "each", "table", "local"]))
    share = st.sampled_from([0, 0.1, 0.5, 1])
    if kind == "each":
        each = [max(0.01, one) * bound for one in draw(st.lists(share, min_size=n, max_size=n))]
        return Call("dp.GlobalSensitivity", [*each[:-1], bound], relation)
    if kind == "flat":
        more = draw(st.sampled_from([{}, {"l1": bound}, {"l1": 3 * bound}]))
        return Call("dp.GlobalSensitivity", bound, relation, **more)
    steps = draw(st.lists(st.lists(share, min_size=n, max_size=n), min_size=1, max_size=4))
    table = (np.minimum(np.cumsum(steps, axis=0), 1) * bound).tolist()
    if kind == "table":
        at = Call(by_table, table)
        return Call("dp.ElementSensitivity", at, bound, relation, horizon=len(table) + 1)
    at = Call(by_table, [max(row) for row in table])
    return Call("dp.LocalSensitivity", at, bound, relation, horizon=len(table) + 1)


@st.composite
def objectives(draw, *, flat=False, near=False):
    """An objective as a call, its scores and its bound."""
    bound = draw(st.sampled_from([1, 1, 1, 1e-6, 0.5, 7, 1e6]))
    scores = draw(scores_of(bound, near=near))
    sensitivity = draw(sensitivities(len(scores), bound, draw(RELATIONS), flat=flat))
    more = {"monotone": True} if draw(st.booleans()) else {}
    whole = bound == 1 and all(one == int(one) for one in scores)
    if flat:
        more |= {"highest": max(scores) + bound, "direction": "non-decreasing"}
    more |= {"step": 1} if whole and draw(st.booleans()) else {}
    return Call("dp.Objective", scores, sensitivity, **more), scores, bound


def whole_move(objective, scores, bound):
    """What all scores together change by, as it is stated, or at most."""
    sensitivity = objective.args[1]
    return min(sensitivity.fields.get("l1", len(scores) * bound), len(scores) * bound)


@st.composite
def drawn(draw, mechanism):
    """Some candidates by a mechanism of that name."""
    objective, scores, bound = draw(
        objectives(flat=mechanism in ONLY_FLAT, near=mechanism in NEAR)
    )
    n, epsilon = len(scores), draw(EPSILONS)
    k = draw(st.integers(1, n))
    # A penalty comes to the slack of theory.
    bound *= 1.2 if mechanism == "generalized" else 1
    l1 = whole_move(objective, scores, bound) if mechanism == "noisy-sequence" else 0
    slack = Slack(bound, epsilon, n, k, l1).value
    of_scores = dict(enumerate(scores))

    def right(release):
        found = best_first(release.answer, of_scores, k, slack)
        if found is not True or release.noisy_scores is None:
            return found
        far = [
            (one, noisy)
            for one, noisy in zip(release.answer, release.noisy_scores, strict=True)
            # What is released is in steps of up to two thousandths of all that one moves.
            if abs(noisy - scores[one]) > slack + l1 / 2**11 + abs(scores[one]) * 2**-50
        ]
        return not far or f"{far} are no scores"

    options = (
        {"draw": "permute-and-flip"} if mechanism in VARIED and draw(st.booleans()) else {}
    )
    made_by = Call(CLASSES[mechanism], epsilon=epsilon, **options)
    return released(made_by, objective, right, k=k)


VARIED = {"local-dampening", "shifted", "anchored", "pairwise", "generalized"}


@st.composite
def probable(draw):
    """The stated distribution has all of its mass on the best."""
    mechanism = draw(st.sampled_from(sorted(CLASSES)))
    objective, scores, bound = draw(
        objectives(flat=mechanism in ONLY_FLAT, near=mechanism in NEAR)
    )
    epsilon = draw(EPSILONS)
    l1 = len(scores) * bound if mechanism == "noisy-sequence" else 0
    slack = Slack(2 * bound, epsilon, len(scores), 1, l1).value
    best = np.array(scores) >= max(scores) - slack
    call = Call(CLASSES[mechanism], epsilon=epsilon)
    return Question(
        f"{call!r}.probabilities({objective!r})",
        lambda: call.made().probabilities(objective.made()),
        lambda found: bool(found[best].sum() > 1 - 1e-6) or f"{found}",
    )


@st.composite
def above(draw):
    """All noisy scores of at least a threshold, the largest first."""
    objective, scores, bound = draw(objectives())
    epsilon, threshold = draw(EPSILONS), draw(small) * bound + bound / 2
    slack = Slack(bound, epsilon, len(scores), 1, whole_move(objective, scores, bound)).value
    query = Call(
        "dp.Selection",
        mechanism=Call("dp.NoisySequence", epsilon=epsilon),
        above=threshold,
        neighbours=objective.args[1].args[-1],
    )

    def right(release):
        chosen = set(release.answer)
        wrong = [
            one
            for one, score in enumerate(scores)
            if abs(score - threshold) > slack and (score > threshold) != (one in chosen)
        ]
        if wrong:
            return f"{release.answer}: not {wrong}"
        return best_first(release.answer, dict(enumerate(scores)), len(chosen), slack)

    # Its l1 is the objective's.
    ready = Call(with_facts, query, objective)
    return Question(
        f"{ready!r}.release({objective!r})",
        lambda: ready.made().release(made(objective)),
        right,
    )


def with_facts(query, objective):
    """Return a selection whose mechanism knows the public facts of an objective."""
    from dataclasses import replace

    return replace(query, mechanism=query.mechanism.for_objective(objective))


def spread(seed, n, ahead):
    """Scores of many candidates, of which a few lead by so much."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 100, n).astype(float)
    leaders = rng.choice(n, min(n, len(ahead)), replace=False)
    scores[leaders] = 100 + np.array(ahead[:n])
    return scores


@st.composite
def many(draw):
    """A thousand to a million candidates."""
    n = draw(st.sampled_from([1000] * 20 + [20_000] * 8 + [200_000] * 3 + [10**6]))
    name = draw(
        st.sampled_from(["exponential", "permute-and-flip", "noisy-max", "noisy-sequence"])
    )
    seed = draw(st.integers(0, 10**6))
    ahead = [2e5, 3e5, 4e5, 6e5, draw(st.sampled_from([7e5, 1e9, 2.0**33]))]
    scores = spread(seed, n, ahead)
    k = draw(st.integers(1, 5))
    sensitivity = Call(
        "dp.GlobalSensitivity", 1, "add-remove", **draw(st.sampled_from([{}, {"l1": 1}]))
    )
    objective = Call("dp.Objective", Call(spread, seed, n, ahead), sensitivity, monotone=True)
    best = np.argsort(-scores)[:6].tolist()
    slack = Slack(1, 1e4, n, k, sensitivity.fields.get("l1", n)).value
    some = {one: scores[one] for one in best}
    call = Call(CLASSES[name], epsilon=1e4)
    if slack > 5e4:  # the noise for a million scores hides what leads by less
        return Question(f"{call!r}", lambda: (), lambda _: True)
    return released(
        call, objective, lambda release: best_first(release.answer, some, k, slack), k=k
    )


@st.composite
def first_above(draw):
    """The first queries of at least a threshold."""
    size = draw(st.sampled_from([3, 100, 2**50]))
    queries = draw(st.lists(st.integers(-size, size), max_size=20))
    threshold = draw(st.integers(-size, size) | st.sampled_from([*queries, 0]))
    stops = draw(st.integers(1, 4))
    query = Call(
        "dp.AboveThreshold",
        threshold=threshold,
        sensitivity=draw(st.integers(1, 3)),
        monotone=draw(st.booleans()),
        stops=stops,
        epsilon=draw(st.sampled_from([1e4, 1e6])),
        neighbours=draw(RELATIONS),
    )
    wanted = tuple(place for place, one in enumerate(queries) if one >= threshold)[:stops]

    def right(release):
        return release.answer == wanted or f"{release.answer} for {wanted}"

    return released(query, queries, right)


CONTAINERS = ["list", "tuple", "array", "series", "pandas", "dict", "set"]


def contained(labels, container):
    """Return public labels in a container."""
    held = {"array": np.array, "series": pl.Series, "pandas": pd.Index, "dict": dict.fromkeys}
    return held.get(container, {"list": list, "tuple": tuple, "set": set}.get(container))(
        labels
    )


@st.composite
def labelled(draw):
    """The label of the best; or a refusal before the charge, where there is no order."""
    n = draw(st.integers(1, 5))
    scores, container = draw(st.permutations(range(n))), draw(st.sampled_from(CONTAINERS))
    candidates = Call(contained, [f"c{i}" for i in range(n)], container)
    sensitivity = Call("dp.GlobalSensitivity", 1, "add-remove")
    objective = Call("dp.Objective", scores, sensitivity, candidates=candidates)
    mechanism = Call("dp.PermuteAndFlip", epsilon=200.0)

    def ask():
        spent = dp.Budget(300.0, neighbours="add-remove")
        try:
            return mechanism.made().release(made(objective), budget=spent).answer
        except ParameterError:
            return None if spent.remaining == 300 else "refused after the charge"

    wanted = [(f"c{scores.index(max(scores))}",)] + [None] * (container in {"dict", "set"})
    return Question(f"{mechanism!r}.release({objective!r})", ask, lambda found: found in wanted)


QUESTIONS = {
    **{f"Objective {name}": drawn(name) for name in sorted(CLASSES)},
    "Objective probabilities": probable(),
    "Objective above": above(),
    "Objective of many": many(),
    "Objective candidates": labelled(),
    "AboveThreshold": first_above(),
}
