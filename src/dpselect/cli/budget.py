"""``dpselect budget`` and ``report``: look at a ledger or make one; write it as a page."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dpselect import validation
from dpselect.cli import options, output
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.budget.totals import Period, Persons

LONGEST = 300
"""Characters of an answer that the table shows; 'dpselect report' shows all."""


REPORT_HELP = """Write a ledger as one HTML page, to be signed.

It lists each query with its file, public arguments, note and analyst, the answer, the price in
words, what was declared public, and the remaining budget. The page works offline.

[bold]dpselect report clinic.budget --out report.html[/bold]

With --registry it writes an entry for the public registry of deployments
(opendp/deployments-registry-data); what the ledger cannot know is marked QUESTION.

[bold]dpselect report clinic.budget --registry --out clinic_stays.yaml[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("budget")(budget)
    app.command("report", help=REPORT_HELP)(report)


of_new = partial(typer.Option, rich_help_panel="New ledger")

Rows: TypeAlias = Annotated[
    int | None,
    of_new(
        "--rows-per-person",
        help="Largest number of rows of a person, declared public. Queries by rows, which are "
        "refused without it, are charged for this number.",
    ),
]
RenewedFor: TypeAlias = Annotated[
    str | None,
    of_new(
        help="each-period: protects the data of a person in one period. one-period: declares "
        "that all data of a person lie in one period.",
    ),
]


def budget(
    file: Annotated[Path, typer.Argument(help="The ledger, such as clinic.budget.")],
    entry: Annotated[
        int | None, typer.Argument(help="Number of an entry, to show all of it.")
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Create the ledger; it must not exist.")
    ] = False,
    epsilon: Annotated[float | None, of_new(help="Total epsilon, in nats.")] = None,
    delta: Annotated[float, of_new(help="Total delta.")] = 0.0,
    neighbours: Annotated[
        str | None, of_new(help=f"One of {', '.join(map(str, Neighbours))}.")
    ] = None,
    protects: Annotated[
        str | None,
        of_new(
            help="row; or the column of persons, such as patient, to protect all rows of each."
        ),
    ] = None,
    rows_per_person: Rows = None,
    composition: Annotated[
        str,
        of_new(
            help="either, sum (all of delta is for the deltas of queries) or zcdp (none is)."
        ),
    ] = "either",
    share: Annotated[
        list[str] | None,
        of_new(help="An analyst and their part of epsilon, as Ann=1.5; may be repeated."),
    ] = None,
    period: Annotated[
        str | None, of_new(help="day, month or year: the totals are renewed in each.")
    ] = None,
    period_unit: RenewedFor = None,
    as_json: options.Json = False,
) -> None:
    """Show what a ledger has spent and what remains; or create one.

    With the number of an entry it shows all of that release: question, answer, mechanism,
    steps and price.
    """
    from dpselect.budget import Budget

    terms = {
        "epsilon": epsilon,
        "delta": delta or None,
        "neighbours": neighbours,
        "protects": protects,
        "rows_per_person": rows_per_person,
        "composition": None if composition == "either" else composition,
        "share": share or None,
        "period": period,
        "period_unit": period_unit,
    }
    if not create:
        for name, given in terms.items():
            if given is not None:
                raise ParameterError(f"`{name}` goes with `create`: a ledger keeps its terms")
        shown = Budget.open(file)
        if entry is not None:
            _show_entry(shown, entry, as_json=as_json)
            return
    elif entry is not None:
        raise ParameterError("`entry` is of a ledger that is there, without `create`")
    elif epsilon is None or neighbours is None:
        raise ParameterError("`create` needs `epsilon` and `neighbours`")
    elif file.exists():
        raise ParameterError(f"{file} is there already; `create` makes a new ledger")
    else:
        shown = Budget(
            epsilon,
            delta,
            neighbours=options.relation("neighbours", neighbours),
            protects=_persons(protects, rows_per_person),
            composition=composition,  # type: ignore[arg-type] # the budget checks it
            shares=dict(map(_share, share or ())),
            period=_period(period, period_unit),
            path=file,
        )
    if as_json:
        output.print_json(json.loads(shown.to_json()))
        return
    _show(shown, file)


def _persons(column: str | None, rows: int | None) -> str | Persons | None:
    from dpselect.budget.totals import RECORDS, Persons

    if rows is None:
        return column
    if column is None or column in RECORDS.values():
        raise ParameterError("`rows_per_person` goes with `protects`, a column of persons")
    return Persons(column, rows)


def _share(text: str) -> tuple[str, float]:
    name, _, amount = text.rpartition("=")
    with suppress(ValueError):
        return name, float(amount)
    raise ParameterError(f"`share` must be an analyst and an epsilon such as Ann=1.5: {text}")


def _period(length: str | None, unit: str | None) -> Period | None:
    from dpselect.budget.totals import Period

    if length is None and unit is None:
        return None
    if length is None or unit is None:
        raise ParameterError("`period` and `period_unit` go together")
    return Period(length, unit)  # type: ignore[arg-type] # it checks both


def _show(shown: Budget, file: Path) -> None:
    from rich.table import Table

    from dpselect.budget import words
    from dpselect.requests.contradictions import file_of

    facts = {"ledger": str(file), **words.facts(shown)}
    if (found := file_of(file)).exists() and found.stat().st_size > 0:
        facts["beware"] = (
            f"data contradict a claim of a policy, which stops queries: see {found}"
        )
    output.print_facts(facts)
    if not shown.entries:
        return
    table = Table("", "query", "answer", "price", show_lines=True)
    for entry in shown.entries:
        price = f"{entry.epsilon:.6g}"
        if entry.refunded:
            price += f"\n- {entry.refunded:.6g}"
        if entry.delta:
            price += f"\ndelta {entry.delta:.3g}"
        if entry.steps > 1:
            price += f"\nfor {entry.steps} rows"
        paid = "own share" if entry.share else ""
        when = entry.time.removesuffix("+00:00") + " UTC"
        about = [entry.note, entry.analyst, paid, entry.source_version, when]
        table.add_row(
            str(entry.sequence),
            f"{words.question_of(entry)}\n({', '.join(filter(None, about))})",
            _short(words.answer_of(entry)),
            price,
        )
    output.console().print(table)


def _show_entry(shown: Budget, number: int, *, as_json: bool) -> None:
    """Print all that a ledger knows of one release, but its long lists."""
    from dpselect.budget import words

    found = next((one for one in shown.entries if one.sequence == number), None)
    if found is None:
        raise ParameterError(f"`entry` must be 1 to {len(shown.entries)}, not {number}")
    if as_json:
        entries = json.loads(shown.to_json())["entries"]
        output.print_json(next(one for one in entries if one["sequence"] == number))
        return
    known = words.facts_of(found, shown.totals)
    output.print_facts({"entry": f"{number} of {shown.path}", **known})


def _short(answer: str) -> str:
    return answer if len(answer) <= LONGEST else f"{answer[:LONGEST]} ..."


def report(
    ledger: Annotated[Path, typer.Argument(help="The ledger.")],
    out: Annotated[
        Path,
        typer.Option("--out", help="The page, such as report.html; or clinic_stays.yaml."),
    ],
    registry: Annotated[
        bool,
        typer.Option("--registry", help="An entry of the registry of deployments, as YAML."),
    ] = False,
    policy: Annotated[
        Path | None, typer.Option(help="With --registry: what requests had to stay within.")
    ] = None,
) -> None:
    """Write the report."""
    from dpselect.budget import Budget

    if policy is not None and not registry:
        raise validation.goes_with("policy", "registry")
    budget = Budget.open(ledger)
    output.check_outputs({"out": out}, ledger, policy)
    if registry:
        from dpselect.requests import Policy
        from dpselect.requests.registry import entry

        limits = None if policy is None else Policy.read(policy)
        page = entry(budget, slug=out.stem, policy=limits)
    else:
        page = budget.to_html()
    with output.writing(out, "a page such as report.html"):
        out.write_text(page, encoding="utf-8")
    output.print_facts({"registry entry" if registry else "report": out})
