"""``dpselect pool worksheet``: designs by name, the files of a lab, and their secret noise."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dpselect.cli import options, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from dpselect.plan import Plan, SupportsSpend
    from dpselect.pooling.designs import Design

Seed = Annotated[int, typer.Option(help="Of the design, which is public.")]
Cap = Annotated[
    int | None, typer.Option("--max-pool-size", help="Samples that a pool may hold.")
]


def worksheet(
    samples: Annotated[
        Path,
        typer.Argument(help="A CSV file with a column sample; plate and well, if it has them."),
    ],
    out: Annotated[Path, typer.Option("--out", help="A folder for the worksheets.")],
    design: Annotated[
        str,
        typer.Option(
            help="balanced, near-constant, constant, bernoulli, dorfman, array or "
            "kautz-singleton."
        ),
    ] = "balanced",
    pools: Annotated[int | None, typer.Option(help="Pooled tests.")] = None,
    weight: Annotated[int | None, typer.Option(help="Pools for each sample.")] = None,
    probability: Annotated[
        float | None, typer.Option(help="Of a sample in a pool, with bernoulli.")
    ] = None,
    pool_size: Annotated[int | None, typer.Option(help="With dorfman.")] = None,
    rows: Annotated[int | None, typer.Option(help="With array.")] = None,
    columns: Annotated[int | None, typer.Option(help="With array.")] = None,
    d: Annotated[
        int | None,
        typer.Option("--d", help="Positives; with kautz-singleton found for certain."),
    ] = None,
    max_pool_size: Cap = None,
    wells: Annotated[int, typer.Option(help="96 or 384 on each plate.")] = 96,
    replace: Annotated[
        int, typer.Option(help="Vials to replace by known positives (Algorithm A2); secret.")
    ] = 0,
    clean: Annotated[
        float, typer.Option(help="Chance that a pool is exchanged for a clean one; secret.")
    ] = 0.0,
    contaminated: Annotated[
        float, typer.Option(help="Chance that it is exchanged for a contaminated one; secret.")
    ] = 0.0,
    neighbours: Annotated[
        str, typer.Option(help="substitute or swap, with --clean or --contaminated.")
    ] = "substitute",
    epsilon: Annotated[
        float | None,
        typer.Option(help="To state delta for, with those; the least without a delta if not."),
    ] = None,
    seed: Seed = 0,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Write the collector's file, the lab's, and a secret one.

    A kautz-singleton design is made for the positives and the replaced vials together.
    """
    import numpy as np

    from dpselect import pooling
    from dpselect.pooling import worksheet as sheets
    from dpselect.pooling.plates import PLATES, read_places

    names = sheets.read_samples(samples)
    arguments: dict[str, object] = {
        "pools": pools,
        "weight": weight,
        "probability": probability,
        "pool_size": pool_size,
        "rows": rows,
        "columns": columns,
        "d": None if d is None else d + replace,
    }
    if design != "kautz-singleton":
        arguments["d"] = None
    rng = np.random.default_rng(checked_seed(seed))
    matrix = _design(design, len(names), arguments, max_pool_size, rng)
    places = read_places(str(samples), names, wells) if wells in PLATES else None
    sheet = pooling.Worksheet(names, matrix, wells=wells, places=places)
    budget = options.open_ledger(ledger, source=samples, note=note, analyst=analyst)
    noise = _noise(matrix, d, replace, clean, contaminated, epsilon, neighbours)
    if budget is not None and noise is None:
        raise ParameterError(
            "without --replace, --clean or --contaminated nothing is private, and nothing can "
            "be spent"
        )
    sheet.refuse_if_written(out)
    facts = _facts(matrix)
    if noise is not None:
        charge = noise.plan()
        if dry_run:
            if not as_json:
                _print(facts, as_json=False)
            output.print_plan(charge, budget, as_json=as_json)
            return
        facts["lab_sees"] = (
            f"({charge.epsilon:g}, {charge.delta:g})-DP, {charge.neighbours} neighbours, if "
            "it does not collude with the collector"
        )
    if not dry_run:
        drawn = {} if noise is None else noise.draw(budget)
        sheet = pooling.Worksheet(names, matrix, wells=wells, places=places, **drawn)
        facts["files"] = [str(path) for path in sheet.write(out)]
    _print(facts, as_json=as_json)


DESIGNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "balanced": ("doubly_balanced", ("pools", "weight")),
    "near-constant": ("near_constant_column_weight", ("pools", "weight")),
    "constant": ("constant_column_weight", ("pools", "weight")),
    "bernoulli": ("bernoulli", ("pools", "probability")),
    "dorfman": ("dorfman", ("pool_size",)),
    "array": ("array_2d", ("rows", "columns")),
    "kautz-singleton": ("kautz_singleton", ("d",)),
}
"""Function and options by name; those with pools are drawn."""


def _design(
    name: str,
    people: int,
    arguments: dict[str, object],
    cap: int | None,
    rng: np.random.Generator,
) -> Design:
    from dpselect import pooling

    if name not in DESIGNS:
        raise ParameterError(f"--design must be one of {', '.join(DESIGNS)}")
    function, needed = DESIGNS[name]
    for option, value in arguments.items():
        flag = "--" + option.replace("_", "-")
        if option in needed and value is None:
            raise ParameterError(f"--design {name} needs {flag}")
        if option not in needed and value is not None:
            raise ParameterError(f"{flag} does not go with --design {name}")
    given: dict[str, Any] = {option: arguments[option] for option in needed}
    if "pools" in needed:
        given["rng"] = rng
    if name == "balanced":
        given["max_pool_size"] = cap
    matrix: Design = getattr(pooling, function)(people, **given)
    if cap is not None and matrix.sum(axis=1).max() > cap:
        raise ParameterError(
            f"this design has a pool above --max-pool-size {cap}: take more or smaller pools, "
            "or --design balanced"
        )
    return matrix


class _Noise(NamedTuple):
    """The secret noise of a worksheet: what it costs, and how it is drawn."""

    plan: Callable[[], Plan]
    draw: Callable[[SupportsSpend | None], dict[str, Any]]


def _noise(
    matrix: Design,
    d: int | None,
    replace: int,
    clean: float,
    contaminated: float,
    epsilon: float | None,
    neighbours: str,
) -> _Noise | None:
    from dpselect import pooling

    exchanged = clean > 0 or contaminated > 0
    if replace and exchanged:
        raise ParameterError("--replace does not go with --clean and --contaminated")
    if epsilon is not None and not exchanged:
        raise ParameterError("--epsilon goes with --clean or --contaminated")
    if replace:
        before: dict[str, Any] = {"people": matrix.shape[1], "beta": replace}
        if d is not None:
            before |= {"design": matrix, "d": d}
        return _Noise(
            lambda: pooling.plan_replaced(**before),
            lambda budget: {
                "replaced": pooling.draw_replaced(**before, budget=budget).positions
            },
        )
    if not exchanged:
        return None
    law = pooling.IndependentNoise(clean, contaminated)
    relation = options.relation("--neighbours", neighbours)
    at = law.epsilon(matrix, neighbours=relation) if epsilon is None else epsilon
    if not isfinite(at):
        raise ParameterError(
            "with only one of --clean and --contaminated some outcomes are certain: give "
            "--epsilon, for which delta is stated, or both"
        )
    after: dict[str, Any] = {
        "design": matrix, "noise": law, "d": d, "epsilon": at, "neighbours": relation
    }  # fmt: skip
    return _Noise(
        lambda: pooling.plan_swapped(**after),
        lambda budget: {"states": pooling.draw_swapped(**after, budget=budget).states},
    )


def _facts(matrix: Design) -> dict[str, object]:
    from dpselect.pooling import positives_found

    pools, people = matrix.shape
    return {
        "samples": people,
        "pools": pools,
        "largest_pool": int(matrix.sum(axis=1).max()),
        "pools_per_sample": int(matrix.sum(axis=0).max()),
        "positives_found_for_certain": positives_found(matrix),
    }


def _print(facts: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        output.print_json(facts)
        return
    shown = {name.replace("_", " "): value for name, value in facts.items()}
    files = shown.pop("files", [])
    output.print_facts(shown)
    for path in files if isinstance(files, list) else []:
        output.console().print(f"wrote {path}")


def checked_seed(seed: int) -> int:
    """Return a seed that is not negative."""
    if seed < 0:
        raise ParameterError("--seed must be at least 0")
    return seed
