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
from typing import TYPE_CHECKING, Any

from dpselect.errors import ParameterError
from dpselect.extend import options as shared, output, validation

if TYPE_CHECKING:
    from dpselect import Neighbours
    from dpselect.extend import Values
    from dpselect_planner import Question, Risk

TASKS = ("most-common", "percentile", "scores", "keys", "subset", "response", "releases")

TINY = 1e-6
"""Smaller numbers are not printed with their digits."""

MOST_POINTS = 5000
"""Values whose distributions are computed."""


def planner(
    *,
    save: Path | None = None,
) -> None:
    """Open the planner in the browser: one page that works without a network.

    Args:
        save: Write the page to a file; do not open it.
    """
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
    what: str,
    *,
    task: str | None = None,
    column: str | None = None,
    counts_column: str | None = None,
    neighbours: str | None = None,
    epsilon: float = 1.0,
    probability: float = 0.95,
    mechanism: str | None = None,
    options: int = 20,
    gap: float = 30.0,
    spacing: float = 1.0,
    people: float | None = None,
    k: int = 1,
    within: float = 0.0,
    bound: float = 1.0,
    monotone: str = "no",
    p: str = "90",
    lower: float = 0.0,
    upper: float = 60.0,
    step: float = 1.0,
    shape: str = "tail",
    unit: str = "units",
    delta: float = 1e-6,
    max_per_user: int = 1,
    n: int = 100,
    d: int = 10,
    beta: int = 2,
    releases: int = 1,
    total_delta: float = 1e-6,
    data_is_public: bool = False,
    as_json: bool = False,
) -> None:
    """Compute which mechanism, epsilon or number of people a task needs.

    WHAT is a task, one of most-common, percentile, scores, keys, subset, response, releases,
    for data of a shape; or a file of public or synthetic data, with --task and --column.
    Answers are exact and computed without noise.

    $ dpselect plan most-common --options 20 --gap 30 --neighbours add-remove

    $ dpselect plan percentile --p 90 --upper 60 --step 1 --within 1 --epsilon 0.5 --neighbours
    add-remove

    $ dpselect plan synthetic.csv --task most-common --column diagnosis --data-is-public
    --neighbours add-remove

    Args:
        what: A task, or a file of public data.
        task: The task, with a file.
        column: With a file: options or values, one person a row; or scores.
        counts_column: With a file: how many people each row stands for.
        neighbours: What is protected: add-remove, substitute, edge, swap.
        epsilon: Epsilon of one release, in nats.
        probability: Wanted probability of success.
        mechanism: For the risk; else the best.
        options: How many options.
        gap: Lead of the best, in people.
        spacing: Between each score and the next.
        people: How many; if not given 1000, and 10 with a key.
        k: How many options are released.
        within: What counts as right, in units.
        bound: What one individual changes of a score.
        monotone: yes if all scores move in one direction, else no.
        p: Percentiles, as 90 or 25,50,75.
        lower: The smallest value to release.
        upper: The largest value to release.
        step: The distance of two values to release.
        shape: The values: tail, bell or even.
        unit: Unit of values or scores.
        delta: Delta of keys or of a subset.
        max_per_user: Keys of one person.
        n: People that a subset is of.
        d: Members of a subset.
        beta: Errors allowed in a subset, in swaps.
        releases: How many releases at this epsilon.
        total_delta: What all releases may fail with, by zCDP.
    """
    asked = SimpleNamespace(**locals(), file=None)
    name = what if what in TASKS else task
    if name not in TASKS:
        raise ParameterError(
            f"give one of {', '.join(TASKS)}, or a file whose `task` is one of them"
        )
    if what not in TASKS:
        if not data_is_public:
            raise ParameterError(
                "'dpselect plan' prints exact values, which no epsilon protects: run it on "
                "public or synthetic data of the same kind and say `data_is_public`"
            )
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


def _relation(asked: Any) -> Neighbours:
    """Return the neighbour relation, which has no default."""
    if asked.neighbours is None:
        raise ParameterError("`neighbours` says what is protected, such as add-remove")
    return validation.neighbours(asked.neighbours)


def _column(asked: Any, name: str = "column") -> str:
    """Return the column of the file that an option names."""
    if getattr(asked, name) is None:
        raise ParameterError(f"`{name}` names the column of {asked.file}")
    return str(getattr(asked, name))


def _numbers(asked: Any, name: str = "column") -> Values:
    from dpselect import tables

    values = tables.numeric_column(asked.file, _column(asked, name))
    return values[values == values]  # noqa: PLR0124 -- without missing ones, which are NaN


def _people(asked: Any, usual: float) -> float:
    return usual if asked.people is None else float(asked.people)


def _most_common(asked: Any) -> Question:
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


def _percentile(asked: Any) -> Question:
    import numpy as np

    import dpselect_planner as planner
    from dpselect import tables
    from dpselect.extend import Range

    grid = Range(asked.lower, asked.upper, asked.step)
    if not 2 <= len(grid) <= MOST_POINTS:
        raise ParameterError(
            f"`lower`, `upper` and `step` must give 2 to {MOST_POINTS:,} values"
        )
    points = grid[range(len(grid))]
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


def _scores(asked: Any) -> Question:
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


def _keys(asked: Any) -> Question:
    import dpselect_planner as planner

    return planner.Keys(
        people=_people(asked, 10),
        delta=asked.delta,
        max_per_user=asked.max_per_user,
        neighbours=_relation(asked),
    )


def _subset(asked: Any) -> Question:
    import dpselect_planner as planner

    return planner.Subset(n=asked.n, d=asked.d, beta=asked.beta, delta=asked.delta)


def _response(_asked: Any) -> Question:
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
    from dpselect_planner import theorem_1_lower, theorem_2_lower

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
    return f"< {TINY:g}" if 0 < abs(value) < TINY else f"{value:.4g}"


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
