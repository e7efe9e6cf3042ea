"""Weighted positions: every integer below the sum of the weights is one outcome."""

from dpselect.draws.exact import samplers, uniform


def test_each_position_has_as_many_integers_as_its_weight(monkeypatch):
    drawn, below = iter(range(6)), []
    monkeypatch.setattr(samplers, "randbelow", lambda n: below.append(n) or next(drawn))

    assert uniform.positions([1, 0, 3, 2], 6) == [0, 2, 2, 2, 3, 3]
    assert below == [6] * 6
