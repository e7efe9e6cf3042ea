"""``dpselect run`` and ``schema``: files of queries, and what they can hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect.cli import options, output
from dpselect.errors import ParameterError
from dpselect.plan import Plan, remaining_after, sequential_plan

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.requests import Request


def schema() -> None:
    """Print the JSON schema of the files of 'dpselect run', for editors.

    $ dpselect schema > request.schema.json

    Editors that know TOML take it by a first line such as '#:schema ./request.schema.json'.
    """
    from dpselect import requests

    print(json.dumps(requests.schema(), indent=2))  # noqa: T201 -- rich would fold it


def run(
    file: Path,
    *,
    policy: Path | None = None,
    no_policy: bool = False,
    out: Path | None = None,
    check: bool = False,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Release all queries of a file, within a policy.

    The file (TOML) states the table, the ledger, the unit of protection and the queries with
    their fields. It must stay within the policy that whoever runs it gives; the file may name
    the same one. The total price is checked before a row is read.

    $ dpselect run hospital.toml --check

    $ dpselect run hospital.toml --dry-run

    $ dpselect run hospital.toml --policy policy.toml --out answers

    --no-policy says that nothing limits the request but its ledger. --check and --dry-run read
    no row and need neither.

    With --out each answer is written as CSV and Parquet, all of them as answers.json, and the
    file with its SHA-256, the plan and the ledger as report.html.

    Args:
        file: The request, a file in TOML.
        policy: The policy that limits the request.
        no_policy: Release without a policy.
        out: A new folder for the answers and the report.
        check: Read the file and its policy alone: no data, no ledger.
    """
    from dpselect.requests import Request, answers

    if check and dry_run:
        raise ParameterError("give `check` or `dry_run`")
    request = Request.read(file, policy=policy)
    _check_policy(request, policy, no_policy=no_policy, reads_rows=not (check or dry_run))
    if check or dry_run:
        _print_plan(request, dry_run=dry_run, as_json=as_json)
        return
    budget = request.budget()
    if out is not None:
        answers.check_folder(out)
    with options.working("counting and choosing"):
        found = request.release(budget=budget)
    if out is not None:
        answers.save(request, found, budget, out)
    if as_json:
        content = answers.to_dict(request, found)
        output.print_json({**content, "remaining_budget": budget.remaining})
        return
    for name, release in found.items():
        output.console().print(f"{name}:")
        entry = {"entry": release._entry}  # noqa: SLF001 -- as notebooks print it
        output.print_answer(release, output.price(release.plan, budget), last=entry)
        output.console().print()
    new = [release.plan for release in found.values() if not release.repeated]
    left = "" if budget.path is None else f"{budget.remaining:.6g}"
    output.print_facts(
        {"price of all": _price(new, budget), "remaining budget": left, "written to": out}
    )


def _price(plans: Sequence[Plan], budget: Budget | None) -> str:
    """Return what the new ones of all answers cost together."""
    return output.privacy(sequential_plan(plans), budget) if plans else "nothing"


def _check_policy(
    request: Request, policy: Path | None, *, no_policy: bool, reads_rows: bool
) -> None:
    """Raise unless whoever runs a request said what limits it.

    A request is limited by somebody else than who writes it: the policy that it names is none
    until the runner gives it.
    """
    if no_policy and (policy is not None or request.policy is not None):
        named = "both are given" if policy is not None else f"{request.document.path} names one"
        raise ParameterError(f"give `policy` or `no_policy`: {named}")
    if reads_rows and policy is None and not no_policy:
        raise ParameterError("give the `policy` that limits the request, or `no_policy`")


def _print_plan(request: Request, *, dry_run: bool, as_json: bool) -> None:
    """Print the price of each query and of all; refuse what a release would, if asked to."""
    if dry_run:
        request.check()
    budget = request.budget() if dry_run else None
    plans = {name: query.plan for name, query in request.queries.items()}
    answered = {name: plan.answered(budget) for name, plan in plans.items()}
    new = [plan for name, plan in plans.items() if answered[name] is None]
    remaining = remaining_after(new, budget) if budget and budget.path else None
    if as_json:
        content: dict[str, Any] = {
            "dry_run": True,
            "sha256": request.sha256,
            "epsilon": request.plan.epsilon,
            "delta": request.plan.delta,
            "neighbours": str(request.plan.neighbours),
            "queries": {
                name: {**one.plan.to_dict(), "predicted": one.predicted()}
                for name, one in request.queries.items()
            },
            "counting": {"queries": request.plan.passes},
            "remaining_budget": remaining,
        }
        output.print_json(content)
        return
    for name, query in request.queries.items():
        entry, price = answered[name], output.price(query.plan, budget)
        spends = price if entry is None else f"nothing: entry {entry.sequence} answers it"
        output.console().print(f"{name}:")
        said = output.plan_facts(query.plan, query.predicted(), {"would spend": spends})
        output.print_facts(said)
        output.console().print()
    output.print_facts(
        {
            "file": f"{request.document.path}, SHA-256 {request.sha256}",
            "price of all": _price(new, budget),
            "queries": None if request.engine == "memory" else request.plan.passes,
            "would remain": None if remaining is None else f"{remaining:.6g}",
        }
    )
