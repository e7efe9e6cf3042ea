"""Comparisons of designs against closed forms, and against the decoders themselves."""

import numpy as np
import pytest

from dpselect_pooling import Assay, OutcomePrivacy, Screening, compare_designs, comparison

pytestmark = pytest.mark.slow


def simple(*, pools=None, trials=60, **facts):
    screening, rng = Screening(**{"n": 60, "d": 2, **facts}), np.random.default_rng(5)
    return compare_designs(screening, pools=pools, trials=trials, rng=rng)


def by_name(found, name):
    return next(design for design in found.designs if design.name == name)


def test_without_noise_all_is_found_and_the_cheapest_of_the_best_is_first():
    found = simple()
    alone, best = by_name(found, "one by one"), found.designs[0]

    assert (alone.pools, alone.exact, alone.retests) == (60, 1.0, 0.0)
    assert all(design.errors_after_retests == 0 for design in found.designs)
    assert best.tests == min(design.tests for design in found.designs) < 60
    [line] = [one for one in found.plot().get_lines() if one.get_label() == best.name]
    assert (best.tests / 60, 0) in list(zip(*line.get_data(), strict=True))
    assert "after retests" in line.axes.get_ylabel()


def test_dorfman_retests_are_those_of_its_formula():
    """All of a positive pool are in doubt: n (1 - (1 - p)^s) people; 5 standard errors."""
    found = simple(n=800, d=None, prevalence=0.02, pools=[800], trials=400)
    design = by_name(found, "Dorfman, pools of 8")

    expected = 800 * (1 - 0.98**8)
    assert design.retests == pytest.approx(
        expected, abs=5 * 8 * (100 * 0.15 * 0.85 / 400) ** 0.5
    )


def test_kautz_singleton_is_certain():
    assert by_name(simple(n=2000, pools=[50], trials=50), "Kautz-Singleton").exact == 1


def test_transfers_keep_to_their_limit():
    found = simple(max_transfers=130)

    assert {design.name for design in found.designs} > {"one by one"}
    assert all(60 <= design.transfers <= 130 for design in found.designs)
    assert any(design.transfers > 130 for design in simple().designs)


def test_privacy_is_met_by_flips_and_costs_errors():
    free = simple(pools=[30])
    private = simple(pools=[30], privacy=OutcomePrivacy(epsilon=2.0, neighbours="substitute"))

    for design in private.designs:
        one = np.log((1 - design.flip) / design.flip)
        assert design.weight * one == pytest.approx(2.0)
    assert by_name(private, "one by one").exact < by_name(free, "one by one").exact


def test_an_assay_that_errs_is_decoded_by_belief():
    design = by_name(
        simple(assay=Assay(sensitivity=0.8, specificity=0.999), trials=400), "one by one"
    )

    assert design.false_negatives == pytest.approx(0.4, abs=0.16)


def test_rounds_do_not_depend_on_how_they_are_shared(monkeypatch):
    alone = simple()
    monkeypatch.setattr(comparison, "PIECES", 3)

    assert simple() == alone


def test_under_the_hardest_cap_everybody_is_tested_alone():
    found = simple(max_pool_size=1)

    assert {design.largest_pool for design in found.designs} == {1}
    assert by_name(found, "one by one").exact == 1
