"""``dpselect budget`` and ``report``: look at a ledger or make one; write it as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dpselect.cli import output
from dpselect.cli.help import add, argument, command, parameter, shared
from dpselect.errors import ParameterError
from dpselect.neighbours import RECORDS
from dpselect.writing import documented, once

if TYPE_CHECKING:
    from dpselect.budget import Budget

TERMS: dict[str, Any] = {
    **dict.fromkeys(("epsilon", "delta"), float),
    **dict.fromkeys(("neighbours", "protects"), str),
    "rows_per_person": int,
    "composition": str,
    "share": list[str],
    **dict.fromkeys(("period", "period_unit"), str),
}
"""Options of a new ledger, with their types: its terms."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    words = documented(budget, title="Args")
    options = [
        argument("file", Path, words["file"]),
        argument("entry", int | None, words["entry"], None),
        parameter("create", bool, words["create"]),
        *(parameter(one, kind, words[one], "New ledger") for one, kind in TERMS.items()),
        shared("as_json"),
    ]
    add(app, "budget", budget, options, budget.__doc__)
    command(app, report)


def budget(file: Path, entry: int | None, *, create: bool, as_json: bool, **terms: Any) -> None:
    """Show what a ledger has spent and what remains; or create one.

    With the number of an entry it shows all of that release: question, answer, mechanism,
    steps and price.

    Args:
        file: The ledger, such as clinic.budget.
        entry: Number of an entry, to show all of it.
        create: Create the ledger; it must not exist.
        epsilon: Total epsilon, in nats.
        delta: Total delta, by default 0.
        neighbours: One of add-remove, substitute, edge, swap.
        protects: row; or the column of persons, such as patient, to protect all rows of each.
        rows_per_person: Largest number of rows of a person, declared public. Queries by rows,
            which are refused without it, are charged for this number.
        composition: either (the default), sum (all of delta is for the deltas of queries) or
            zcdp (none is).
        share: An analyst and their part of epsilon, as Ann=1.5; may be repeated.
        period: day, month or year: the totals are renewed in each.
        period_unit: each-period: protects the data of a person in one period. one-period:
            declares that all data of a person lie in one period.
    """
    given = {name: one for name, one in terms.items() if one not in (None, [])}
    from dpselect.budget import Budget

    if not create:
        for name in given:
            raise ParameterError(f"`{name}` goes with `create`: a ledger keeps its terms")
        shown = Budget.open(file)
    elif entry is not None:
        raise ParameterError("`entry` is of a ledger that is there, without `create`")
    elif missing := [name for name in ("epsilon", "neighbours") if name not in given]:
        raise ParameterError(f"give {' and '.join(f'`{name}`' for name in missing)}")
    elif file.exists():
        raise ParameterError(f"{file} is there already: leave out `create` and its terms")
    else:
        shown = Budget(path=file, **_granted(given))
    if entry is not None:
        _show_entry(shown, entry, as_json=as_json)
    elif as_json:
        output.print_json(json.loads(shown.to_json()))
    else:
        _show(shown, file)


def _granted(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a budget."""
    from dpselect.budget.totals import Period, Persons

    made = dict(terms)
    if (rows := made.pop("rows_per_person", None)) is not None:
        column = made.get("protects")
        if column is None or column in RECORDS.values():
            raise ParameterError("`rows_per_person` goes with `protects`, a column of persons")
        made["protects"] = Persons(column, rows)
    if shares := made.pop("share", None):
        made["shares"] = once([*map(_share, shares)])
    length, unit = made.pop("period", None), made.pop("period_unit", None)
    return made if length is unit is None else {**made, "period": Period(length, unit)}


def _share(text: str) -> tuple[str, float]:
    name, _, amount = text.rpartition("=")
    with suppress(ValueError):
        return name, float(amount)
    raise ParameterError(f"`share` must be an analyst and an epsilon such as Ann=1.5: {text}")


def _show(shown: Budget, file: Path) -> None:
    from dpselect.budget import words
    from dpselect.requests.contradictions import file_of

    facts = {"ledger": str(file), **words.facts(shown.totals, shown.pots)}
    if (found := file_of(file)).exists() and found.stat().st_size > 0:
        facts["beware"] = (
            f"data contradict a claim of a policy, which stops queries: see {found}"
        )
    output.print_facts(facts)
    if not shown.entries:
        return
    columns = words.listed(shown.entries)
    del columns["error"]
    print()  # noqa: T201 -- before the table
    output.print_table(columns)
    output.print_facts({"details": f"dpselect budget {file} ENTRY"})


def _show_entry(shown: Budget, number: int, *, as_json: bool) -> None:
    """Print all that a ledger knows of one release, but its long lists."""
    from dpselect.budget import words

    found = next((one for one in shown.entries if one.sequence == number), None)
    if found is None:
        allowed = f"must be 1 to {len(shown.entries)}" if shown.entries else "is of none yet"
        raise ParameterError(f"`entry` {allowed}, not {number}")
    if as_json:
        output.print_json(json.loads(shown.to_json())["entries"][number - 1])
        return
    if found.shown:
        output.print_table(found.shown)
    known = words.facts_of(found, shown.totals)
    output.print_facts({"entry": f"{number} of {shown.path}", **known})


def report(ledger: Path, *, out: Path) -> None:
    """Write a ledger as one HTML page, to be signed.

    It lists each query with its file, public arguments, note and analyst, the answer, the price
    in words, what was declared public, and the remaining budget. The page works offline. An
    answer of more than 200 rows is written beside it whole, as report-3.csv for entry 3.

    $ dpselect report clinic.budget --out report.html

    Args:
        ledger: The ledger.
        out: The page, such as report.html.
    """
    from dpselect._optional import pl
    from dpselect.budget import Budget, words
    from dpselect.release import for_csv

    shown = Budget.open(ledger)
    output.check_outputs({"out": out}, ledger)
    if out.suffix.lower() not in {".html", ".htm"}:
        raise ParameterError("`out` must be a page such as report.html")
    tables = words.long_tables(shown)
    files = {at: f"{out.stem}-{at}.csv" for at in tables}
    with output.writing(out, "a page such as report.html"):
        out.write_text(words.html(shown, name=ledger.name, whole=files), encoding="utf-8")
        for at, table in tables.items():
            for_csv(pl.DataFrame(table, strict=False)).write_csv(out.with_name(files[at]))
    output.print_facts({"report": out, "long answers": ", ".join(files.values())})
