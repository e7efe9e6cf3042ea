"""Losses of samplers against their definition, by enumeration of all outputs."""

import inspect
from collections import Counter
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import combinations, product
from math import comb, exp, log
from pkgutil import walk_packages

import numpy as np
import pytest

import dpselect as dp
from dpselect import draws
from dpselect.budget.zcdp import delta_of, delta_of_gaussian
from dpselect.draws.grid import SENSITIVITY, STEPS_PER_UNIT
from dpselect.draws.subset_distance import DistanceDistribution, Part
from dpselect_conformance.releases import sampler_losses
from dpselect_conformance.releases.replays import compose
from dpselect_conformance.releases.sampler_losses import RULES, loss_of

N = 4
SUBSETS = [set(s) for size in range(N + 1) for s in combinations(range(N), size)]


def every_sampler():
    """Yield the name of every function of the room that draws."""
    for info in walk_packages(draws.__path__, f"{draws.__name__}."):
        if info.name.endswith(".samplers"):
            continue
        module = import_module(info.name)
        for name, found in inspect.getmembers(module, inspect.isfunction):
            if found.__module__ == module.__name__ and hasattr(found, "__wrapped__"):
                yield f"{module.__name__}.{name}"


def test_every_sampler_has_a_rule():
    assert set(every_sampler()) == set(RULES)


@pytest.mark.parametrize(
    ("name", "sizes_differ"),
    [
        ("exact.bernoulli.flipped", ([True], [True, False])),
        ("exact.noisy_counts.discrete_laplace", (np.array([1, 2]), np.array([1]))),
        ("exact.selection.top_k_gumbel_noise", (np.array([0.5, 1.0]), np.array([0.5]))),
        ("exact.bernoulli.select", (np.array([1]), np.array([1, 1]))),
    ],
)
def test_inputs_of_different_sizes_have_no_loss(name, sizes_differ):
    here, there = ({"input": one, "scale": 1.0} for one in sizes_differ)

    assert loss_of(RULES[f"dpselect.draws.{name}"], here, there, []) is None


def hockey_stick(p, q, epsilon):
    """By definition, over the outputs of either law."""
    outputs = set(p) | set(q)
    return max(
        sum(max(a.get(o, 0) - exp(epsilon) * b.get(o, 0), 0) for o in outputs)
        for a, b in ((p, q), (q, p))
    )


def swapped_law(members, law):
    """Probabilities of all outputs: brought to the size, then swapped."""
    weights = np.exp(law.log_weights())
    others = sorted(set(range(law.n)) - members)
    if law.d <= len(members):
        brought = [set(s) for s in combinations(sorted(members), law.d)]
    else:
        brought = [members | set(s) for s in combinations(others, law.d - len(members))]
    return {
        out: sum(weights[len(one - set(out))] for one in brought) / len(brought)
        for out in combinations(range(law.n), law.d)
    }


def joined_law(members, beta):
    law = Counter()
    for more in combinations(range(N), beta):
        law[frozenset(members | set(more))] += 1 / comb(N, beta)
    return law


def agrees(loss, p, q):
    p, q = ({o: m for o, m in law.items() if m > 0} for law in (p, q))
    for epsilon in (0.0, 0.3, 1.0):
        assert loss.delta(epsilon) == pytest.approx(hockey_stick(p, q, epsilon), abs=1e-12)
    pure = max(abs(log(p[o] / q[o])) for o in p) if set(p) == set(q) else np.inf
    assert loss.pure == pytest.approx(pure, abs=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("parts", ["pure", "ball"])
def test_a_retrieval_loses_what_its_law_says_for_any_two_subsets(d, parts):
    most = min(d, N - d)
    part = Part(0, most, 1.0, 0.6) if parts == "pure" else Part(0, most - 1, 1.0, 0.3)
    law = DistanceDistribution(N, d, (part,))
    laws = [swapped_law(members, law) for members in SUBSETS]

    for (one, p), (other, q) in product(zip(SUBSETS, laws, strict=True), repeat=2):
        if len(one ^ other) <= 2:
            loss = sampler_losses.swapped(sorted(one), sorted(other), {"distribution": law}, [])
            agrees(loss, p, q)


@pytest.mark.parametrize("beta", [0, 2, 4])
def test_a_union_loses_what_its_law_says_for_any_two_subsets(beta):
    laws = [joined_law(members, beta) for members in SUBSETS]

    for (one, p), (other, q) in product(zip(SUBSETS, laws, strict=True), repeat=2):
        loss = sampler_losses.joined(sorted(one), sorted(other), {"n": N, "beta": beta}, [])
        agrees(loss, p, q)


def test_flips_lose_the_log_odds_of_each_bit_that_differs():
    rule = sampler_losses.flipped
    chance = {"chance": Fraction(1, 10)}

    assert rule([True, False, True], [False, False, False], chance, []).pure == 2 * log(9)
    assert rule([True], [False], {"chance": Fraction(0)}, []).pure == np.inf
    assert rule([True], [True], {"chance": Fraction(0)}, []).pure == 0


def test_noise_on_counts_loses_the_l1_distance_over_the_scale():
    rule = sampler_losses.discrete_laplace
    far = np.array([2**62, -(2**62)])

    assert rule(np.array([1, 5, 5]), np.array([2, 3, 5]), {"scale": 1.5}, []).pure == 2.0
    assert rule(far, -far, {"scale": 1.0}, []).pure == 2.0**64


def noisy_maximum(draw, here, there, chosen=(0,)):
    public = {"epsilon": 1.0, "k": len(chosen)}
    return sampler_losses.noisy_maximum(draw, here, there, public, chosen)


@pytest.mark.parametrize("draw", [draws.Exponential(), draws.PermuteAndFlip()])
def test_a_noisy_maximum_loses_no_more_than_half_the_spread(draw):
    """The bound holds for all laws, and is attained in the limit of far apart scores."""
    rng = np.random.default_rng(0)
    here = rng.integers(-3, 4, (200, 4)) / 1.0
    far = np.array([0.0, 40.0, 80.0]), np.array([1.0, 40.0, 79.0])
    for one, other in [*zip(here, here + rng.integers(-2, 3, (200, 4)), strict=True), far]:
        loss, laws = (
            noisy_maximum(draw, one, other),
            [draw.probabilities(scores, 1.0) for scores in (one, other)],
        )
        met = dp.audit.privacy_loss(*laws)
        assert met <= loss.pure * SENSITIVITY / STEPS_PER_UNIT + 1e-9
        for order in (1.01, 2.0, 8.0):
            assert dp.audit.renyi(*laws, order) <= order * loss.zcdp * (1 + 1e-9)
    assert met == pytest.approx(loss.pure, rel=1e-4)


def test_a_noisy_maximum_of_several_counts_the_rounds_that_were_drawn():
    here, there = np.array([0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    rule = partial(noisy_maximum, draws.Exponential())
    each = 0.25 * STEPS_PER_UNIT / SENSITIVITY

    assert rule(here, there, [0, 1]).pure == pytest.approx(each)
    assert rule(here, there, [1, 2]).pure == pytest.approx(2 * each)
    assert rule(here, there, [1, 2]).zcdp == pytest.approx(2 * draws.Exponential().rho(each))
    assert rule(here, here + 7, [0, 1]).pure == 0


def test_gaussian_noise_has_the_rho_of_its_move_and_a_delta_that_covers_the_exact_one():
    scale, here, there = 3.0, np.array([5, 0, 7]), np.array([4, 2, 7])
    loss = RULES["dpselect.draws.exact.noisy_counts.discrete_gaussian"](
        here, there, {"scale": scale}, here
    )
    z = np.arange(-40, 41)
    mass = np.exp(-(z**2) / (2 * scale**2))
    p = np.outer(mass, mass) / mass.sum() ** 2
    q = np.roll(p, (1, -2), axis=(0, 1))

    assert loss.rho == 5 / (2 * scale**2)
    for epsilon in (0.1, 1.0, 2.0):
        exact = np.maximum(p - exp(epsilon) * q, 0).sum()
        assert exact <= delta_of(loss.rho, epsilon) <= 20 * exact


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_fine_gaussian_noise_has_the_delta_of_normal_noise(epsilon):
    """At a scale far below the one from which on it is taken as normal."""
    scale, move = 2**12, 5000
    z = np.arange(-12 * scale, 12 * scale)
    p, q = (np.exp(-(((z - at) / scale) ** 2) / 2) for at in (move, 0))
    exact = np.maximum(p - exp(epsilon) * q, 0).sum() / q.sum()
    fine = RULES["dpselect.draws.exact.noisy_counts.discrete_gaussian"](
        np.array([move << 8]), np.array([0]), {"scale": sampler_losses.FINE}, 0
    )

    assert (fine.rho, fine.normal) == (0, (move / scale) ** 2 / 2)
    assert exact == pytest.approx(delta_of_gaussian(move / scale, epsilon), rel=1e-6)
    assert compose([fine], epsilon, 0.5) == (epsilon, pytest.approx(exact, rel=1e-6))


def test_selections_by_count_lose_what_their_law_says_for_any_counts():
    class Chances(list):
        sure = 3

    chances = Chances(one << 248 for one in (0, 3, 77, 256))
    up = [one / 256 for one in (0, 3, 77, 256)]

    def law(counts):
        faces = [(1 - up[min(n, 3)], up[min(n, 3)]) for n in counts]
        return {
            tosses: float(
                np.prod([face[toss] for face, toss in zip(faces, tosses, strict=True)])
            )
            for tosses in product((0, 1), repeat=len(counts))
        }

    every = list(product(range(5), repeat=3))[::3]
    for one, other in product(every, repeat=2):
        loss = sampler_losses.select(np.array(one), np.array(other), {"chances": chances}, [])
        agrees(loss, law(one), law(other))
