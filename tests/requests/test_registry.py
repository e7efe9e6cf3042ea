"""Entries of the registry of deployments: keys of its schema, and texts as they were."""

import polars as pl
import pytest
import yaml

import dpselect as dp
from dpselect.requests.registry import QUESTION, entry

AR = {"neighbours": "add-remove"}

REQUIRED = {
    "": {"url_slug", "status", "tier", "deployment"},
    "basic": {
        *("name", "data_curators", "description", "intended_use", "data_product_type"),
        *("data_product_region", "publication_date"),
    },
    "administrative": {"registry_authors"},
}
"""Of ``schemas/deployments-schema.yaml`` in opendp/deployments-registry-data."""

TOP = dp.TopKeys(column="ward", k=1, candidates=["heart", "lung"], epsilon=0.5, **AR)


def released(query=TOP, source="/home/us/stays: 2025.parquet", **totals):
    budget = dp.Budget(1.0, **{**AR, **totals})
    query.release(
        pl.DataFrame({"ward": ["heart"] * 3}), budget=budget.for_request(source=source)
    )
    return budget


def test_it_says_what_the_ledger_knows():
    found = yaml.safe_load(entry(released(delta=1e-6), slug="clinic_stays"))
    deployment = found["deployment"]

    assert set(found) == REQUIRED[""]
    assert set(deployment["basic"]) >= REQUIRED["basic"]
    assert set(deployment["administrative"]) >= REQUIRED["administrative"]
    assert (found["url_slug"], found["status"], found["tier"]) == ("clinic_stays", "Draft", 3)
    assert "of stays: 2025.parquet: column = ward" in deployment["basic"]["description"]
    assert "/home" not in str(found)
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert "the candidates; k" in deployment["dp_variant"]["unprotected_quantities"]
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-6}
    assert deployment["deployment_model"]["release_type"] == "One release"
    assert "TopKeys: PermuteAndFlip" in deployment["implementation"]["mechanisms"]


def test_what_only_people_know_is_a_marked_question():
    text = entry(released(), slug="clinic_stays")
    basic = yaml.safe_load(text)["deployment"]["basic"]

    assert basic["name"].startswith(QUESTION)
    assert basic["data_curators"][0].startswith(QUESTION)
    assert sum(line.startswith(f"# {QUESTION}") for line in text.splitlines()) == 3


@pytest.mark.parametrize(
    "name", ["a: b", 'q"uote', "tab\tnew\nline", "naïve \U0001f600", "\x85\x7f#"]
)
def test_texts_stay_what_they_are(name):
    found = yaml.safe_load(entry(released(source=name), slug="a"))

    assert f"columns of {name}." in found["deployment"]["dp_variant"]["data_domain"]


def test_a_policy_says_what_could_be_asked():
    policy = dp.Policy.from_dict(
        {
            "data": {"path": "a.parquet"},
            "unit": AR,
            "release": {"epsilon": 0.5, "queries": ["TopKeys"]},
        }
    )
    found = yaml.safe_load(entry(released(), slug="a", policy=policy))

    said = found["deployment"]["deployment_model"]["access_type_details"]
    assert "TopKeys, each of epsilon at most 0.5" in said
