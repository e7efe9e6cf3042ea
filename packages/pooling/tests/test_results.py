"""Results files in, reports out."""

import stat

import numpy as np
import pytest

from dpselect.errors import DataError
from dpselect_pooling import (
    Assay,
    Results,
    array_2d,
    decode,
    kautz_singleton,
    outcomes,
    read_results,
)
from support.refusals import refused

DESIGN = array_2d(12, rows=3, columns=4)
SAMPLES = [f"S{i}" for i in range(12)]
ONE = np.arange(12) == 5


def results_of(status, invalid=()):
    valid = ~np.isin(np.arange(len(DESIGN)), invalid)
    return Results(outcomes(DESIGN, status) & valid, valid)


def write(tmp_path, text):
    path = tmp_path / "results.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_results_file_is_read_with_missing_and_invalid_pools(tmp_path):
    path = write(tmp_path, "pool,result,ct\nP0003,Positive,31\nP0001, neg ,\nP0002,invalid,\n")
    found = read_results(path, 4)

    assert found.positive.tolist() == [False, False, True, False]
    assert found.valid.tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "pool,result\nP0001,pos\nP0001,neg\n",
        "pool,pool_plate,pool_well,result\nP0001,1,A01,pos\nP0002,1,A01,neg\n",
        "pool,result\nP0009,pos\n",
        "pool,result\nP0001,maybe\n",
        "pool,ct\nP0001,31\n",
    ],
)
def test_bad_results_files_are_refused(tmp_path, text):
    with pytest.raises(DataError):
        read_results(write(tmp_path, text), 4)


@pytest.mark.parametrize("method", ["comp", "dd", "scomp", "integer-program"])
def test_one_positive_in_an_array_is_found_and_certain(method):
    report = decode(SAMPLES, DESIGN, results_of(ONE), method=method)

    assert (report.positive == ONE).all()
    assert not report.retest.any()
    assert report.rows()[5] == {"sample": "S5", "status": "positive", "posterior": None}


def test_belief_propagation_gives_posteriors():
    report = decode(
        SAMPLES, DESIGN, results_of(ONE), method="belief-propagation", prevalence=0.05
    )

    assert report.converged
    assert report.posterior[5] > 0.99
    assert (report.positive == ONE).all()


def test_who_has_no_valid_pool_is_to_be_tested_again():
    for method in ("comp", "scomp", "integer-program", "belief-propagation"):
        report = decode(
            SAMPLES, DESIGN, results_of(ONE, [0, 3]), method=method, prevalence=0.05
        )

        assert report.retest[0]


def test_whose_vial_was_replaced_is_to_be_tested_again():
    report = decode(SAMPLES, DESIGN, results_of(ONE), replaced=["S5"])

    assert np.flatnonzero(report.retest).tolist() == [5]
    with pytest.raises(DataError):
        decode(SAMPLES, DESIGN, results_of(ONE), replaced=["S99"])


def test_a_report_is_a_new_file_of_its_owners(tmp_path):
    path = tmp_path / "report.csv"
    decode(SAMPLES, DESIGN, results_of(ONE)).write(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8").splitlines()[6] == "S5,positive,"
    with pytest.raises(DataError):
        decode(SAMPLES, DESIGN, results_of(ONE)).write(path)


def test_everybody_of_a_pool_that_nothing_explains_is_in_doubt():
    positive = np.zeros(7, dtype=bool)
    positive[0] = True
    report = decode(SAMPLES, DESIGN, Results(positive, np.ones(7, dtype=bool)))

    assert np.flatnonzero(report.retest).tolist() == [0, 1, 2, 3]


def test_an_assay_that_errs_is_taken_into_account():
    design = kautz_singleton(12, d=2)
    positive = outcomes(design, ONE)
    positive[np.flatnonzero(positive)[0]] = False
    results = Results(positive, np.ones(len(design), dtype=bool))
    for method in ("integer-program", "belief-propagation"):
        report = decode(
            SAMPLES,
            design,
            results,
            method=method,
            assay=Assay(sensitivity=0.9, specificity=0.999),
            prevalence=0.05,
        )

        assert report.positive[5]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"method": "belief-propagation"}, "prevalence"),
        ({"method": "magic"}, "method"),
        ({"assay": Assay(sensitivity=0.9)}, "prevalence"),
        ({"assay": Assay(sensitivity=0.9), "method": "scomp"}, ""),
        ({"assay": Assay(sensitivity=0.9), "method": "integer-program"}, "prevalence"),
    ],
)
def test_decoders_need_their_arguments(arguments, says):
    with refused(says):
        decode(SAMPLES, DESIGN, results_of(ONE), **arguments)
