"""The table that a user picks a mechanism from."""

import pytest

import dpselect as dp
from dpselect.errors import ParameterError

OBJECTIVE = dp.Objective(
    [1.0, 5.0, 5.0], dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE), monotone=True
)
MECHANISMS = [dp.ExponentialMechanism(epsilon=1.0), dp.LocalDampening(epsilon=2.0)]


def test_a_row_holds_the_exact_error_and_the_exact_chance_of_a_best():
    rows = dp.compare(OBJECTIVE, MECHANISMS).rows

    assert [(row.mechanism, row.epsilon) for row in rows] == [
        ("exponential", 1.0),
        ("local-dampening", 2.0),
    ]
    for row, mechanism in zip(rows, MECHANISMS, strict=True):
        law = mechanism.probabilities(OBJECTIVE)
        assert row.expected_error == pytest.approx(4 * law[0])
        assert row.best == pytest.approx(law[1] + law[2])


def test_every_mechanism_meets_every_epsilon():
    rows = dp.compare(OBJECTIVE, MECHANISMS, epsilons=[0.5, 1.5]).rows

    assert [(row.mechanism, row.epsilon) for row in rows] == [
        ("exponential", 0.5),
        ("exponential", 1.5),
        ("local-dampening", 0.5),
        ("local-dampening", 1.5),
    ]


def test_the_frame_has_the_rows():
    frame = dp.compare(OBJECTIVE, MECHANISMS).to_frame()

    assert frame.columns == ["mechanism", "epsilon", "expected_error", "best"]
    assert frame.shape == (2, 4)


def test_the_plot_has_a_line_for_each_mechanism():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    error, best = dp.compare(OBJECTIVE, MECHANISMS, epsilons=[3.0, 1.0]).plot()

    assert [line.get_label() for line in error.lines] == ["exponential", "local-dampening"]
    assert list(best.lines[0].get_xdata()) == [1.0, 3.0]
    assert "score units" in error.get_ylabel()
    plt.close("all")


def test_nothing_cannot_be_compared():
    with pytest.raises(ParameterError, match="at least one mechanism"):
        dp.compare(OBJECTIVE, [])


def test_what_is_compared_is_a_mechanism():
    with pytest.raises(ParameterError, match="each of mechanisms must be a Mechanism"):
        dp.compare(OBJECTIVE, ["exponential"])


def test_an_epsilon_is_checked():
    with pytest.raises(ParameterError, match="epsilon must be"):
        dp.compare(OBJECTIVE, MECHANISMS, epsilons=[1.0, 0.0])
