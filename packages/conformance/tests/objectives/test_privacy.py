from functools import partial
from itertools import product
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.audit import bounded_range, check_private, delta, privacy_loss, renyi
from dpselect.errors import AuditError

HALF, QUARTER = [0.5, 0.5], [0.25, 0.75]


@st.composite
def pairs_of_laws(draw, *, zeros=False):
    n = draw(st.integers(1, 5))
    weights = st.integers(0 if zeros else 1, 20)
    laws = []
    for _ in range(2):
        law = np.array([1 + draw(weights), *(draw(weights) for _ in range(n))], dtype=float)
        laws.append(law / law.sum())
    return laws


def test_known_values():
    assert bounded_range(HALF, QUARTER) == pytest.approx(log(2) + log(1.5))
    assert renyi(HALF, QUARTER, 1) == pytest.approx(0.5 * log(2) + 0.5 * log(2 / 3))
    assert renyi(HALF, QUARTER, inf) == pytest.approx(log(2))
    assert renyi(HALF, QUARTER, 1 + 1e-12) == pytest.approx(renyi(HALF, QUARTER, 1), abs=1e-9)
    for measure in (
        privacy_loss,
        bounded_range,
        partial(delta, epsilon=0.1),
        partial(renyi, alpha=2),
    ):
        assert measure([0.3, 0.7, 0.0], [0.3, 0.7, 0.0]) == 0


@given(pairs_of_laws(zeros=True), st.floats(0, 3))
def test_delta_is_the_largest_over_all_events(laws, epsilon):
    p, q = laws
    events = [np.array(event, dtype=bool) for event in product((0, 1), repeat=p.size)]
    worst = max(
        max(a[event].sum() - exp(epsilon) * b[event].sum() for event in events)
        for a, b in ((p, q), (q, p))
    )

    assert delta(p, q, epsilon) == pytest.approx(max(worst, 0.0), abs=1e-12)


@given(pairs_of_laws())
def test_delta_is_zero_from_the_privacy_loss_on(laws):
    loss = privacy_loss(*laws)

    assert delta(*laws, loss + 1e-12) == pytest.approx(0, abs=1e-12)
    if loss > 1e-3:
        assert delta(*laws, 0.99 * loss) > 0


@given(pairs_of_laws(), st.sampled_from([1 + 1e-9, 1.001, 1.5, 2.0, 7.0, 300.0]))
def test_renyi_is_its_definition_and_grows_with_the_order(laws, alpha):
    p, q = laws

    if 1.001 <= alpha <= 7:  # beyond, its powers are too large for floats
        definition = log((p**alpha * q ** (1 - alpha)).sum()) / (alpha - 1)
        assert renyi(p, q, alpha) == pytest.approx(definition, abs=1e-9)
    assert renyi(p, q, 1) - 1e-9 <= renyi(p, q, alpha) <= renyi(p, q, 2 * alpha) + 1e-9
    assert renyi(p, q, alpha) <= renyi(p, q, inf) + 1e-9


@pytest.mark.parametrize(
    ("p", "q"), [([0.5, 0.5, 0.0], [1.0, 0.0, 0.0]), ([1.0, 0.0, 0.0], [0.5, 0.5, 0.0])]
)
def test_an_outcome_possible_on_one_side_only_is_an_infinite_loss(p, q):
    assert privacy_loss(p, q) == inf
    assert bounded_range(p, q) == inf
    assert delta(p, q, 700.0) == (0.5 if p[1] or q[1] else 0)
    assert max(renyi(p, q, 2), renyi(q, p, 2)) == inf
    assert min(renyi(p, q, 2), renyi(q, p, 2)) == pytest.approx(log(2))


def response(x):
    return [0.75, 0.25] if x == (0,) else [0.25, 0.75]


@pytest.mark.parametrize(
    ("epsilon", "ok"), [(log(3), True), (log(3) * 0.999, False), (2.0, True)]
)
def test_randomised_response_is_private_at_its_loss(epsilon, ok):
    report = check_private(response, [(0,), (1,)], dp.Neighbours.SUBSTITUTE, epsilon)

    assert report.ok is ok
    assert report.loss == pytest.approx(log(3))
    assert {report.x, report.y} == {(0,), (1,)}
    assert str(report).startswith("private" if ok else "NOT private")


def test_only_neighbours_are_compared():
    chain = [(i,) * i for i in range(4)]
    laws = [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]
    report = check_private(
        lambda x: laws[len(x)], chain, lambda x, y: abs(len(x) - len(y)) == 1, epsilon=0.5
    )

    assert report.pairs == 3
    assert report.loss == pytest.approx(log(1.5))
    assert (report.x, report.y, report.outcome) == ((2, 2), (3, 3, 3), 0)


def test_an_impossible_outcome_is_an_infinite_loss_and_one_impossible_on_both_sides_none():
    seen = {(0,): [1.0, 0.0, 0.0], (1,): [0.5, 0.5, 0.0]}
    report = check_private(seen.get, list(seen), dp.Neighbours.SUBSTITUTE, epsilon=5.0)

    assert (report.loss, report.outcome) == (inf, 1)
    with pytest.raises(AuditError):
        report.raise_if_failed()
