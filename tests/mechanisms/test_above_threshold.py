"""AboveThreshold: private by the law of all outputs, wrong variants caught, drawn exactly."""

from contextlib import nullcontext
from itertools import combinations, product
from math import exp
from threading import Event, Thread

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws import above_threshold as draws
from dpselect.draws.exact import samplers
from dpselect.errors import ParameterError

EPSILON, THRESHOLD = 1.2, 2
AR = dp.Neighbours.ADD_REMOVE


def above_threshold(**changed):
    asked = {"threshold": THRESHOLD, "sensitivity": 1, "epsilon": EPSILON, "neighbours": AR}
    return dp.AboveThreshold(**asked | changed)


def outputs(n, stops):
    return [found for c in range(stops + 1) for found in combinations(range(n), c)]


def law_of_outputs(queries, stops, scales):
    return np.exp(
        [
            draws.log_probability(np.array(queries), THRESHOLD, *scales, stops, found)
            for found in outputs(len(queries), stops)
        ]
    )


def within_one(x, y):
    return max(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1


def in_one_direction(x, y):
    steps = {b - a for a, b in zip(x, y, strict=True)}
    return steps <= {0, 1} or steps <= {0, -1}


@pytest.mark.parametrize(
    ("stops", "relation", "moves"),
    [(1, within_one, 2), (2, within_one, 4), (2, in_one_direction, 2)],
    ids=["one stop", "two stops", "two stops, monotone"],
)
def test_the_law_keeps_epsilon_on_every_pair_of_queries_and_attains_it(stops, relation, moves):
    scales = draws.scales_for(EPSILON, rise=1, move=moves)
    report = dp.audit.check_private(
        lambda queries: law_of_outputs(queries, stops, scales),
        product(range(4), repeat=4),
        relation,
        EPSILON,
    )

    assert report.ok, str(report)
    assert report.pairs == (4872 if relation is within_one else 2145)
    assert report.loss == pytest.approx(EPSILON, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stops", "relation", "scales"),
    [
        (1, within_one, draws.scales_for(EPSILON, rise=1, move=1)),
        (2, within_one, draws.scales_for(EPSILON, rise=1, move=2)),
        (2, in_one_direction, draws.scales_for(EPSILON, rise=1, move=1)),
    ],
    ids=["move of one", "stops not paid", "stops not paid, monotone"],
)
def test_scales_that_are_too_small_are_caught(stops, relation, scales):
    report = dp.audit.check_private(
        lambda queries: law_of_outputs(queries, stops, scales),
        product(range(4), repeat=4),
        relation,
        EPSILON,
    )

    assert not report.ok


@pytest.mark.parametrize("stops", [1, 2])
def test_the_law_is_the_sum_over_all_noise(stops):
    queries, scales = np.array([0, 2, 1, 4, 3]), (1.5, 0.75)
    law = draws.stop_probabilities(queries, THRESHOLD, *scales, stops)
    by_output = dict(
        zip(outputs(5, stops), law_of_outputs(queries, stops, scales), strict=True)
    )
    expected = np.zeros((stops, 6))
    for found, chance in by_output.items():
        for stop in range(stops):
            expected[stop, found[stop] if stop < len(found) else 5] += chance

    assert law == pytest.approx(expected, abs=1e-12)


def test_the_law_is_that_of_the_noise_by_definition():
    queries, (b1, b2) = (1, 3), (1.5, 0.75)
    noise, law = np.arange(80), np.zeros(3)
    p, q = ((1 - exp(-1 / b)) * np.exp(-noise / b) for b in (b1, b2))
    for rho, first, second in product(range(60), range(60), range(60)):
        above = [
            query + nu >= THRESHOLD + rho
            for query, nu in zip(queries, (first, second), strict=True)
        ]
        law[above.index(True) if any(above) else 2] += p[rho] * q[first] * q[second]

    assert draws.stop_probabilities(np.array(queries), THRESHOLD, b1, b2, 1)[
        0
    ] == pytest.approx(law)


def streamed(query, values):
    with query.stream() as stream:
        for value in values:
            if stream.stops_left:
                stream.is_above(value)
    return stream.release


@pytest.mark.parametrize(
    ("released", "repeats"), [(dp.AboveThreshold.release, 1000), (streamed, 200)]
)
def test_answers_follow_the_law(released, repeats):
    """Unseeded: false alarm 1 in 10^6."""
    from scipy import stats

    queries, query = [0, 1, 3, 2], above_threshold(stops=2)
    expected = law_of_outputs(queries, 2, draws.scales_for(EPSILON, rise=1, move=4))
    counts = dict.fromkeys(outputs(4, 2), 0)
    for _ in range(repeats):
        counts[released(query, queries).answer] += 1

    assert stats.chisquare(list(counts.values()), repeats * expected).pvalue > 1e-6


@pytest.mark.parametrize(("stops", "paid"), [(1, 1), (2, 2), (2, 1)])
def test_queries_may_depend_on_the_answers_before(stops, paid):
    """Every second query is one of two, chosen by the answer before it."""
    scales = draws.scales_for(EPSILON, rise=1, move=2 * paid)

    def law(values):
        chances = []
        for answers in product((False, True), repeat=3):
            found = tuple(place for place, above in enumerate(answers) if above)[:stops]
            seen = found[-1] + 1 if len(found) == stops else 3
            queries = [values[0], values[2 if answers[0] else 1], values[3 - answers[1]]]
            if list(answers) != [place in found for place in range(3)]:
                continue
            asked = np.array(queries[:seen]), THRESHOLD, *scales, stops
            chances.append(exp(draws.log_probability(*asked, found)))
        return np.array(chances)

    report = dp.audit.check_private(law, product(range(4), repeat=4), within_one, EPSILON)

    assert law((1, 2, 3, 0)).sum() == pytest.approx(1)
    assert report.ok == (stops == paid), str(report)


def test_a_stream_spends_once_and_ends():
    budget = dp.Budget(2 * EPSILON, neighbours=AR)
    stream = above_threshold().stream(budget=budget)

    assert budget.entries == ()
    with pytest.raises(ParameterError):
        stream.is_above(9)
    with stream, pytest.raises(ParameterError):
        _ = stream.release
    [entry] = budget.entries
    assert entry.epsilon == EPSILON
    assert entry.answer == {"answer": []}
    with pytest.raises(ParameterError):
        stream.is_above(9)
    with pytest.raises(ParameterError), stream:
        pass


def test_a_stream_draws_one_noise_for_its_threshold_and_one_for_each_query(monkeypatch):
    """Without it a query is above if it is at least the threshold, whatever came before."""
    drawn, queries = [], (0, 1, -3, 9, 1, 2)
    monkeypatch.setattr(
        draws, "geometric", lambda size, scale: drawn.append(scale) or np.zeros(size, int)
    )

    with above_threshold(stops=3).stream() as stream:
        answers = [stream.is_above(query) for query in queries]

    assert answers == [query >= THRESHOLD for query in queries]
    assert [drawn.count(one) for one in dict.fromkeys(drawn)] == [1, len(queries)]


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 7.7])
@pytest.mark.parametrize(("rise", "move", "least"), [(1, 2, 0), (3, 1, 0), (1, 100, 99)])
def test_scales_cost_epsilon_and_no_more(epsilon, rise, move, least):
    from fractions import Fraction

    first, second = map(Fraction, draws.scales_for(epsilon, rise=rise, move=move, least=least))
    paid = rise / first + move / second

    assert Fraction(epsilon) * Fraction(1 - 1e-12) < paid <= Fraction(epsilon)
    assert least / first <= Fraction(epsilon)


def yes_of_two_threads(stream, inside, patience):
    """Send two queries above the threshold at once; return how many were found above.

    The second is sent while the first is being drawn. Where it can be drawn, too, ``inside``
    is called; the draw of the first ends after that, or when its patience does, in seconds.
    """
    found, first, second = [], Event(), Event()

    def handler(_name, draw, *_):
        if first.is_set():
            second.set()
        first.set()
        inside(second.wait(patience))
        return draw()

    def ask(value):
        try:
            found.append(stream.is_above(value))
        except ParameterError as error:
            found.append(str(error))

    with samplers.intercepted(handler), stream:
        threads = [Thread(target=ask, args=[value]) for value in (5000, 6000)]
        threads[0].start()
        first.wait()
        threads[1].start()
        for thread in threads:
            thread.join()
    return found


def test_threads_get_one_positive_for_one_stop():
    stream, together = above_threshold(epsilon=1e3).stream(), []

    found = yes_of_two_threads(stream, together.append, 0.5)

    assert found == [
        True,
        "the stream has ended: all stops are used, or its with block was left",
    ]
    assert stream.release.answer == (0,)
    assert together == [False]


def test_planted_a_stream_without_its_lock_answers_twice():
    stream, together = above_threshold(epsilon=1e3).stream(), []
    stream._lock = nullcontext()

    assert yes_of_two_threads(stream, together.append, 60) == [True, True]
    assert any(together)
