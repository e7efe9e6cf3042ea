"""``dpselect plan`` and ``dpselect planner``: which mechanism, epsilon, or number of people."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from math import ceil, floor, isfinite, log10
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect import validation
from dpselect.cli import options as shared, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.neighbours import Neighbours
    from dpselect.typing import Values
    from dpselect_planner import Question, Risk

TASKS = ("most-common", "percentile", "scores", "keys", "subset", "response", "releases")

MOST_POINTS = 5000
"""Values whose distributions are computed."""

HELP = f"""Compute which mechanism, epsilon or number of people a task needs.

WHAT is a task, one of {", ".join(TASKS)}, for data of a shape; or a file of public or synthetic
data, with --task and --column. Answers are exact and computed without noise.

[bold]dpselect plan most-common --options 20 --gap 30 --neighbours add-remove[/bold]

[bold]dpselect plan percentile --p 90 --upper 60 --step 1 --within 1 --epsilon 0.5 \
--neighbours add-remove[/bold]

[bold]dpselect plan synthetic.csv --task most-common --column diagnosis --data-is-public \
--neighbours add-remove[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("plan", help=HELP)(plan)
    app.command("planner")(planner)


def planner(
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the page to a file; do not open it.")
    ] = None,
) -> None:
    """Open the planner in the browser: one page that works without a network."""
    from dpselect_planner import page

    path = save or Path(gettempdir()) / "dpselect-planner.html"
    try:
        path.write_text(page(), encoding="utf-8")
    except OSError:
        raise ParameterError(f"cannot write {path}: give a file in a folder of yours") from None
    if save is None:
        _open(path)
    output.console().print(f"planner: {path}", soft_wrap=True)


def _open(path: Path) -> None:
    """Open a page in the browser, if the machine has one; what it writes is not shown."""
    with suppress(webbrowser.Error):
        webbrowser.get().open(path.resolve().as_uri())


def plan(
    what: Annotated[str, typer.Argument(help="A task, or a file of public data.")],
    task: Annotated[str | None, typer.Option(help="The task, with a file.")] = None,
    column: Annotated[
        str | None,
        typer.Option(help="With a file: options or values, one person a row; or scores."),
    ] = None,
    counts_column: Annotated[
        str | None, typer.Option(help="With a file: how many people each row stands for.")
    ] = None,
    neighbours: Annotated[
        str | None, typer.Option(help="What is protected: add-remove, substitute, edge, swap.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Epsilon of one release, in nats.")] = 1.0,
    probability: Annotated[float, typer.Option(help="Wanted probability of success.")] = 0.95,
    mechanism: Annotated[str | None, typer.Option(help="For the risk; else the best.")] = None,
    options: Annotated[int, typer.Option("--options", help="How many options.")] = 20,
    gap: Annotated[float, typer.Option(help="Lead of the best, in people.")] = 30.0,
    spacing: Annotated[float, typer.Option(help="Between each score and the next.")] = 1.0,
    people: Annotated[
        float | None, typer.Option(help="How many; if not given 1000, and 10 with a key.")
    ] = None,
    k: Annotated[int, typer.Option("--k", help="How many options are released.")] = 1,
    within: Annotated[float, typer.Option(help="What counts as right, in units.")] = 0.0,
    bound: Annotated[float, typer.Option(help="What one individual changes of a score.")] = 1.0,
    monotone: Annotated[
        str, typer.Option(help="yes if all scores move in one direction, else no.")
    ] = "no",
    p: Annotated[str, typer.Option("--p", help="Percentiles, as 90 or 25,50,75.")] = "90",
    lower: Annotated[float, typer.Option(help="The smallest value to release.")] = 0.0,
    upper: Annotated[float, typer.Option(help="The largest value to release.")] = 60.0,
    step: Annotated[float, typer.Option(help="The distance of two values to release.")] = 1.0,
    shape: Annotated[str, typer.Option(help="The values: tail, bell or even.")] = "tail",
    unit: Annotated[str, typer.Option(help="Unit of values or scores.")] = "units",
    delta: Annotated[float, typer.Option(help="Delta of keys or of a subset.")] = 1e-6,
    max_per_user: Annotated[int, typer.Option(help="Keys of one person.")] = 1,
    n: Annotated[int, typer.Option("--n", help="People that a subset is of.")] = 100,
    d: Annotated[int, typer.Option("--d", help="Members of a subset.")] = 10,
    beta: Annotated[int, typer.Option(help="Errors allowed in a subset, in swaps.")] = 2,
    releases: Annotated[int, typer.Option(help="How many releases at this epsilon.")] = 1,
    total_delta: Annotated[
        float, typer.Option(help="What all releases may fail with, by zCDP.")
    ] = 1e-6,
    data_is_public: shared.DataIsPublic = False,
    as_json: shared.Json = False,
) -> None:
    """Answer by exact distributions."""
    asked = SimpleNamespace(**locals(), file=None)
    name = what if what in TASKS else task
    if name not in TASKS:
        raise ParameterError(
            f"give one of {', '.join(TASKS)}, or a file whose `task` is one of them"
        )
    if what not in TASKS:
        shared.declared_public(data_is_public, "dpselect plan")
        asked.file = Path(what)
    question = _QUESTIONS[name](asked)
    import dpselect_planner as planning

    relation = _relation(asked) if question is None else question.neighbours
    if asked.neighbours is not None and _relation(asked) is not relation:
        raise ParameterError(
            f"`neighbours` of a plan of {name} is {relation}; for another see the dry run of "
            "the release itself"
        )
    best = mechanism or ""
    rows = []
    if question is not None:
        best = mechanism or planning.best_mechanism(question, epsilon=epsilon)
        if best not in question.mechanisms:
            raise ParameterError(f"`mechanism` must be one of {'; '.join(question.mechanisms)}")
        rows = [_row(question, one, epsilon, probability) for one in question.mechanisms]
    risk = planning.risk_of(
        question, releases=releases, epsilon=epsilon, delta=total_delta, mechanism=best
    )
    if as_json:
        facts = {"task": name, "neighbours": str(relation), "epsilon": epsilon}
        answers = {"probability": probability, "mechanisms": rows, "best": best}
        totals = {"odds": risk.odds, "posterior": risk.posterior, "together": risk.epsilon}
        output.print_json({**facts, **answers, "risk": {**asdict(risk), **totals}})
        return
    if question is not None:
        _print_table(question, rows, epsilon, probability)
    if name == "subset":
        _print_least(n, d, beta, epsilon)
    _print_risk(risk, best, relation)


def _relation(asked: Any) -> Neighbours:  # noqa: ANN401 -- the options, by name
    """Return the neighbour relation, which has no default."""
    if asked.neighbours is None:
        raise ParameterError("`neighbours` says what is protected, such as add-remove")
    return shared.relation("neighbours", asked.neighbours)


def _column(asked: Any, name: str = "column") -> str:  # noqa: ANN401
    """Return the column of the file that an option names."""
    if getattr(asked, name) is None:
        raise ParameterError(f"`{name}` names the column of {asked.file}")
    return str(getattr(asked, name))


def _numbers(asked: Any, name: str = "column") -> Values:  # noqa: ANN401
    from dpselect import tables

    values = tables.numeric_column(asked.file, _column(asked, name))
    return values[values == values]  # noqa: PLR0124 -- without missing ones, which are NaN


def _people(asked: Any, usual: float) -> float:  # noqa: ANN401
    return usual if asked.people is None else float(asked.people)


def _most_common(asked: Any) -> Question:  # noqa: ANN401
    import numpy as np

    import dpselect_planner as planner
    from dpselect import tables

    if asked.file is None:
        counts = planner.leading_counts(
            asked.k, options=asked.options, people=_people(asked, 1000), gap=asked.gap
        )
    elif asked.counts_column is not None:
        counts = _numbers(asked, "counts_column")
    else:
        column = _column(asked)
        named = tables.read_columns(asked.file, numeric=[], plain=[column])
        held = [one for one in named[column].to_list() if one is not None]
        counts = np.unique(held, return_counts=True)[1].astype(np.float64)
    return planner.MostCommon(
        counts=counts, k=asked.k, within=asked.within, neighbours=_relation(asked)
    )


def _percentile(asked: Any) -> Question:  # noqa: ANN401
    import numpy as np

    import dpselect_planner as planner
    from dpselect import tables
    from dpselect.percentiles.ranges import Range

    grid = Range(asked.lower, asked.upper, asked.step)
    if not 2 <= len(grid) <= MOST_POINTS:
        raise ParameterError(
            f"`lower`, `upper` and `step` must give 2 to {MOST_POINTS:,} values"
        )
    points = grid.at(range(len(grid)))
    if asked.file is None:
        values, counts = points, planner.spread(points, asked.shape, _people(asked, 1000))
    elif asked.counts_column is None:
        values, held = np.unique(_numbers(asked), return_counts=True)
        counts = held.astype(np.float64)
    else:
        both = tables.read_columns(asked.file, numeric=[_column(asked), asked.counts_column])
        rows = np.column_stack([both[name].to_numpy() for name in both.columns])
        rows = rows[np.isfinite(rows).all(axis=1)]
        values, place = np.unique(rows[:, 0], return_inverse=True)
        counts = np.bincount(place, weights=rows[:, 1]).astype(np.float64)
    return planner.Percentile(
        values=values,
        counts=counts,
        candidates=points,
        p=tuple(shared.numbers("p", asked.p)),
        within=asked.within,
        neighbours=_relation(asked),
        unit=asked.unit,
    )


def _scores(asked: Any) -> Question:  # noqa: ANN401
    import dpselect_planner as planner

    spaced = asked.file is None
    return planner.BestScore(
        scores=planner.equally_spaced(asked.options, asked.spacing)
        if spaced
        else _numbers(asked),
        bound=asked.bound,
        monotone=validation.one_of("monotone", asked.monotone, ("yes", "no")) == "yes",
        within=asked.within,
        neighbours=_relation(asked),
        unit=asked.unit,
    )


def _keys(asked: Any) -> Question:  # noqa: ANN401
    import dpselect_planner as planner

    return planner.Keys(
        people=_people(asked, 10),
        delta=asked.delta,
        max_per_user=asked.max_per_user,
        neighbours=_relation(asked),
    )


def _subset(asked: Any) -> Question:  # noqa: ANN401
    import dpselect_planner as planner

    return planner.Subset(n=asked.n, d=asked.d, beta=asked.beta, delta=asked.delta)


def _response(_asked: Any) -> Question:  # noqa: ANN401
    import dpselect_planner as planner

    return planner.Response()


_QUESTIONS: dict[str, Callable[[Any], Question | None]] = {
    "most-common": _most_common,
    "percentile": _percentile,
    "scores": _scores,
    "keys": _keys,
    "subset": _subset,
    "response": _response,
    "releases": lambda _asked: None,
}


def _row(
    question: Question, mechanism: str, epsilon: float, probability: float
) -> dict[str, Any]:
    import dpselect_planner as planner

    outcome = question.outcome(mechanism, epsilon=epsilon)
    known = isfinite(outcome.error)
    return {
        "mechanism": mechanism,
        "success": outcome.success,
        "error": outcome.error if known else None,
        "epsilon_needed": planner.epsilon_for(
            question, probability=probability, mechanism=mechanism
        ),
        "people_needed": planner.people_for(
            question, probability=probability, epsilon=epsilon, mechanism=mechanism
        ),
    }


def _print_table(
    question: Question, rows: list[dict[str, Any]], epsilon: float, probability: float
) -> None:
    from rich.table import Table

    error = "delta" if question.unit == "delta" else f"expected error ({question.unit})"
    heads = {
        "success": f"P(success) at epsilon {epsilon:g}",
        "error": f"{error} at epsilon {epsilon:g}",
        "epsilon_needed": f"epsilon for {probability:.4g}",
        "people_needed": f"people for {probability:.4g} at epsilon {epsilon:g}",
    }
    kept = {
        name: head for name, head in heads.items() if any(r[name] is not None for r in rows)
    }
    table = Table()
    table.add_column("mechanism", no_wrap=True)
    for head in kept.values():
        table.add_column(head, justify="right")
    for row in rows:
        needed = row["epsilon_needed"]
        shown = {**row, "epsilon_needed": None if needed is None else _upwards(needed)}
        table.add_row(row["mechanism"], *(_cell(shown[name]) for name in kept))
    output.console().print(table)


def _print_least(n: int, d: int, beta: int, epsilon: float) -> None:
    """Print the delta that no scheme can be below; without neighbours there is none."""
    from dpselect.subsets import theorem_1_lower, theorem_2_lower

    facts = {}
    if 0 < d < n:
        least = theorem_1_lower(n, d, beta, epsilon=epsilon)
        facts["any scheme"] = f"delta at least {least:.4g}, by Theorem 1"
    if 0 < d < n - beta:
        least = theorem_2_lower(n, d, beta, epsilon=epsilon)
        facts["one that adds people"] = f"delta at least {least:.4g}, by Theorem 2"
    output.print_facts(facts)


def _cell(value: float | None) -> str:
    if value is None or isinstance(value, int):
        return "-" if value is None else str(value)
    return output.in_digits(value)


def _upwards(epsilon: float) -> float:
    """Return an epsilon of three digits that is enough."""
    unit = 10.0 ** (floor(log10(epsilon)) - 2)
    return ceil(epsilon / unit - 1e-9) * unit


def _of_value(risk: Risk, relation: Neighbours) -> str:
    """Return what is promised to whoever is known to be in the data."""
    if str(relation) != "add-remove":
        return ""
    return f", that a record is there; {risk.of_value:.4g} if the record is known to be there"


def _print_risk(risk: Risk, mechanism: str, relation: Neighbours) -> None:
    facts = {
        "neighbours": relation,
        **({"mechanism": mechanism} if mechanism else {}),
        "odds": f"change by a factor of at most {risk.odds:.4g}",
        "posterior": f"at most {risk.posterior:.4g}, from 0.5{_of_value(risk, relation)}",
    }
    if risk.releases > 1:
        facts["together"] = (
            f"epsilon {risk.epsilon:.4g} ({risk.releases} releases: {risk.sum:.4g} added up, "
            f"{risk.zcdp:.4g} by zCDP with delta {risk.delta:g})"
        )
    output.print_facts(facts)
