"""Entries of the public registry of deployments, made of what a ledger holds.

The schema is that of the repository opendp/deployments-registry-data. What only people know is
left as a marked question, or as a comment where a word of a list is wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from dpselect.budget import Budget, words
from dpselect.errors import ParameterError
from dpselect.requests.policy import Policy

QUESTION = "QUESTION: "
"""Marks what is to be filled in by a person."""

OPEN = (
    "deployment.basic.data_product_sector: Healthcare, Education, Government, or which other?",
    "deployment.deployment_model.data_source_type: Static or Dynamic?",
    "deployment.deployment_model.access_type: Interactive or Non-interactive?",
)
"""Fields that are words of a list and that no ledger knows."""

MODELS = {"ID3Tree", "TreeFront"}
"""Queries that release a model."""

_SLUG = re.compile(r"[a-z0-9_]+")


def entry(budget: Budget, *, slug: str, policy: Policy | None = None) -> str:
    """Return an entry of the registry as YAML, with the status ``Draft``.

    Args:
        budget: What was released.
        slug: The name of the entry, which is that of its file too.
        policy: What requests had to stay within.

    Raises:
        ParameterError: ``slug`` is not small letters, digits and underscores, or nothing was
            released.
    """
    if not _SLUG.fullmatch(slug):
        raise ParameterError(
            f"an entry is a file such as clinic_stays.yaml, of small letters, not {slug!r}"
        )
    if not budget.entries:
        raise ParameterError("nothing was released yet: there is no deployment to enter")
    content = {
        "url_slug": slug,
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(budget),
            "dp_variant": _variant(budget),
            "privacy_loss": _loss(budget),
            "deployment_model": _model(budget, policy),
            "accounting": _accounting(budget),
            "implementation": _implementation(budget),
            "administrative": {
                "notes": "Written by dpselect from the ledger of the releases.",
                "registry_authors": [_asked("who fills in this record?")],
            },
        },
    }
    questions = [f"# {QUESTION}{one}" for one in OPEN]
    return "\n".join([*questions, *_lines(content)]) + "\n"


def _asked(question: str) -> str:
    return f"{QUESTION}{question}"


def _basic(budget: Budget) -> dict[str, Any]:
    entries = budget.entries
    kinds = {str(one.question.get("query")) for one in entries}
    # The folders of a machine say nothing to others.
    asked = [replace(one, source=PurePath(one.source).name) for one in entries]
    releases = "; ".join(dict.fromkeys(map(words.question_of, asked)))
    is_model = bool(kinds) and kinds <= MODELS
    return {
        "name": _asked("what is the data product called?"),
        "data_curators": [_asked("who publishes it?")],
        "intended_use": _asked("what is it for?"),
        "data_product_type": "Machine learning model" if is_model else "Summary statistics",
        "data_product_region": _asked("which region do the data describe?"),
        "description": f"Releases: {releases}.",
        "publication_date": entries[0].time[:10],
    }


def _variant(budget: Budget) -> dict[str, Any]:
    stated = (one.question.get("public") for one in budget.entries)
    public = dict.fromkeys(str(claim) for one in stated for claim in _list(one))
    sources = dict.fromkeys(PurePath(one.source).name for one in budget.entries if one.source)
    return {
        "variant_name": "Approximate DP" if budget.delta else "Pure DP",
        "data_domain": f"Tables of the columns of {', '.join(sources) or 'the data'}. "
        + _asked("which people could be in it?"),
        "unprotected_quantities": f"Declared public: {'; '.join(public) or 'nothing'}.",
    }


def _loss(budget: Budget) -> dict[str, Any]:
    totals = budget.totals
    period = f" in one {totals.period.length}" if totals.period is not None else ""
    amounts = {"epsilon": budget.epsilon}
    return {
        "privacy_unit": f"{totals.unit}{period}",
        "privacy_unit_details": f"Hidden is {words.hidden(totals)} ({budget.neighbours} "
        f"neighbours){period}.",
        "privacy_parameters": {**amounts, **({"delta": budget.delta} if budget.delta else {})},
        "privacy_parameters_details": f"Granted; spent so far: epsilon {budget.spent:.6g}.",
    }


def _model(budget: Budget, policy: Policy | None) -> dict[str, Any]:
    number, period = len(budget.entries), budget.totals.period
    renewed = "never" if period is None else f"with each {period.length}"
    shares = ", ".join(f"{name} epsilon {epsilon:g}" for name, epsilon in budget.totals.shares)
    limits = (
        ""
        if policy is None
        else (
            f" Requests stay within a policy: {', '.join(policy.queries)}, each of epsilon at "
            f"most {policy.epsilon:g}."
        )
    )
    return {
        "model_name": "Central",
        "actors": _asked("who holds the data, and who sees the answers?"),
        "release_type": "One release" if number == 1 else "Many releases",
        "release_type_details": f"{number} so far; the budget is renewed {renewed}.",
        "access_type_details": f"Shares of analysts: {shares or 'none'}.{limits}",
    }


def _accounting(budget: Budget) -> dict[str, str]:
    composed = words.COMPOSITIONS[budget.totals.composition]
    return {
        "post_processing": _asked("what is done with the answers?"),
        "composition": f"Sequential: {composed}. A ledger refuses what does not fit, for "
        "queries chosen one after the other.",
    }


def _implementation(budget: Budget) -> dict[str, str]:
    entries = budget.entries
    mechanisms = "; ".join(dict.fromkeys(one.mechanism for one in entries if one.mechanism))
    versions = ", ".join(dict.fromkeys(one.version for one in entries))
    return {
        "preprocessing_and_hyperparameter_tuning": _asked(
            "what was looked at before, and was it paid for?"
        ),
        "mechanisms": f"dpselect {versions}: {mechanisms}. Draws are made exactly from "
        "random bits, with integers in place of floating point numbers. "
        + _asked("who may see the data, and are times of answers seen?"),
        "justification": _asked("why this unit, this epsilon and these claims?"),
    }


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _lines(value: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yield the lines of a mapping in YAML; texts are quoted, so none is read otherwise."""
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield f"{indent}{name}:"
            yield from _lines(one, f"{indent}  ")
        elif isinstance(one, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_scalar(item)}" for item in one)
        else:
            yield f"{indent}{name}: {_scalar(one)}"


def _scalar(value: object) -> str:
    if isinstance(value, float):
        # YAML 1.1 takes 1e-06 for a text.
        return re.sub(r"^(\d+)e", r"\1.0e", repr(value))
    text = json.dumps(value, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text)
