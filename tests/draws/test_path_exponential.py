"""Ascending positions that are wanted at counts: the joint law, and the draw bit by bit."""

from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest

from dpselect.draws.exact import bits, exp_bounds
from dpselect.draws.exact.exp_bounds import exp_minus
from dpselect.draws.exact.inversion import resolve
from dpselect.draws.path_exponential import Chain, Onward, draw_path, log_probability

THIRDS = (Fraction(1, 3),) * 3
CHAINS = [
    (Chain(np.array([1, 3, 4]), 5, THIRDS), Fraction(1, 2)),
    (Chain(np.array([0, 0, 9]), 9, (Fraction(1, 4), Fraction(3, 4))), Fraction(3)),
    (Chain(np.array([2, 2, 2]), 3, THIRDS), Fraction(1, 100)),
    (Chain(np.array([0, 4]), 4, (Fraction(1, 4),) * 4), Fraction(5)),
]
every_chain = pytest.mark.parametrize(("chain", "decay"), CHAINS)


def paths(chain):
    return list(combinations_with_replacement(range(chain.counts.size), chain.steps))


def by_definition(chain, decay):
    """Return the probability of every path, from the distances of its counts."""
    weights = []
    for path in paths(chain):
        counts = [0, *chain.counts[list(path)].tolist(), chain.total]
        cost = sum(
            abs(there - here - share * chain.total)
            for (here, there), share in zip(pairwise(counts), chain.shares, strict=True)
        )
        weights.append(np.exp(-float(decay * cost)))
    return np.array(weights) / sum(weights)


@every_chain
def test_the_law_is_that_of_the_definition(chain, decay):
    law = np.exp([log_probability(chain, float(decay), path) for path in paths(chain)])

    assert law == pytest.approx(by_definition(chain, decay))


onward_of = cache(Onward)


def decided(chain, decay, uniforms, known):
    """Return the path that all real numbers beginning with these bits are drawn to."""
    onward, path = onward_of(chain, decay, known), []
    for j, uniform in enumerate(uniforms):
        found = resolve(onward.weights(j, path[-1] if path else None), uniform, known)
        if found is None:
            return None
        path.append(found)
    return tuple(path)


@every_chain
def test_bits_decide_with_the_probability_of_the_law(chain, decay):
    """All numbers of 5 bits for each position: what is open is all that a path may lack."""
    known = 5 if chain.steps < 3 else 4
    numbers = product(range(2**known), repeat=chain.steps)
    found = [decided(chain, decay, uniforms, known) for uniforms in numbers]
    share = np.array([found.count(path) for path in paths(chain)]) / len(found)

    open_ = found.count(None) / len(found)
    assert open_ < 0.4
    assert (share <= by_definition(chain, decay) + 1e-12).all()
    assert (share + open_ >= by_definition(chain, decay) - 1e-12).all()


@pytest.mark.parametrize("known", [5, 64, 128])
@every_chain
def test_bounds_are_as_close_as_the_bits_need(chain, decay, known):
    for before in (None, 0):
        weights = onward_of(chain, decay, known).weights(0, before)

        assert weights.most[-1] - weights.least[-1] < weights.least[-1] >> known


@every_chain
def test_an_open_position_is_drawn_with_more_bits_of_its_own(monkeypatch, chain, decay):
    """The first bits are 0 everywhere: the first possible path, and no more bits."""
    asked = []
    monkeypatch.setattr(bits, "randbits", lambda many: asked.append(many) or 0)

    assert draw_path(chain, decay) == [0] * chain.steps
    assert asked == [128] * chain.steps


def test_powers_are_computed_for_public_numbers_alone(monkeypatch):
    """Whatever the counts are: a timer could tell which powers there were."""
    computed = []
    spied = partial(lambda exp, x, many: computed.append((x, many)) or exp(x, many), exp_minus)
    monkeypatch.setattr(exp_bounds, "exp_minus", spied)
    asked = []
    for counts in ([500] * 40, range(40), [0] * 20 + [900] * 20):
        exp_bounds._table.cache_clear()
        computed.clear()
        draw_path(Chain(np.array(counts), 1000, THIRDS), Fraction(1, 7))
        asked.append(list(computed))

    assert len(asked[0]) == 1
    assert asked[0] == asked[1] == asked[2]
