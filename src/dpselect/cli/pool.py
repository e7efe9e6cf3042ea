"""``dpselect pool``: compare designs of pooled tests, write worksheets, decode results."""

from __future__ import annotations

from dataclasses import asdict
from decimal import ROUND_CEILING, Context, Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect.cli import options, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np

    from dpselect.pooling import Assay, DesignComparison, OutcomePrivacy, Report
    from dpselect.pooling.designs import Design

HELP = """Test many samples in few pools.

[bold]dpselect pool plan --n 500 --prevalence 0.02 --max-pool-size 32 --sensitivity 0.95 \
--specificity 0.99[/bold]

[bold]dpselect pool worksheet samples.csv --design balanced --pools 100 --weight 3 \
--out monday[/bold]

[bold]dpselect pool decode results.csv --worksheet monday/collector.csv --decoder bp \
--prevalence 0.02 --out report.csv[/bold]
"""

MOST_ROWS = 12

Sensitivity = Annotated[float, typer.Option(help="P[positive | a positive in the pool].")]
Specificity = Annotated[float, typer.Option(help="P[negative | none in the pool].")]
Dilution = Annotated[
    float, typer.Option(help="Sensitivity is multiplied by (share of positives)^dilution.")
]
Seed = Annotated[int, typer.Option(help="Of the design, which is public.")]
Cap = Annotated[
    int | None, typer.Option("--max-pool-size", help="Samples that a pool may hold.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help=HELP, no_args_is_help=True)
    group.command("plan", help="Simulate the designs that fit and compare them.")(plan)
    group.command("worksheet", help="Write which sample goes into which pool.")(worksheet)
    group.command("decode", help="Report who is positive and whom to retest.")(decode)
    app.add_typer(group, name="pool")


def plan(
    n: Annotated[int, typer.Option("--n", help="People.")],
    prevalence: Annotated[float | None, typer.Option(help="Share of positives.")] = None,
    d: Annotated[int | None, typer.Option("--d", help="Positives, instead.")] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Flip outcomes so that they are private for it; without it the lab is trusted."
        ),
    ] = None,
    delta: Annotated[float, typer.Option(help="Besides epsilon.")] = 0.0,
    neighbours: Annotated[
        str, typer.Option(help="substitute (one status changes) or swap.")
    ] = "substitute",
    max_pool_size: Cap = None,
    sensitivity: Sensitivity = 1.0,
    specificity: Specificity = 1.0,
    dilution: Dilution = 0.0,
    trials: Annotated[int, typer.Option(help="Rounds to simulate for each design.")] = 200,
    seed: Seed = 0,
    plot: options.Plot = None,
    as_json: options.Json = False,
) -> None:
    """Print designs with their tests, errors and privacy; reads no sample."""
    import numpy as np

    from dpselect import pooling

    with output.working("simulating"):
        found = pooling.compare_designs(
            n=n,
            prevalence=prevalence,
            d=d,
            max_pool_size=max_pool_size,
            assay=_assay(sensitivity, specificity, dilution),
            privacy=_privacy(epsilon, delta, neighbours),
            trials=trials,
            rng=np.random.default_rng(_seed(seed)),
        )
    if plot is not None:
        output.save(found.plot(), plot)
    if as_json:
        rows = [_without_infinities(asdict(design)) for design in found.designs]
        output.print_json({"n": found.n, "neighbours": neighbours, "designs": rows})
        return
    _show(found)
    if plot is not None:
        output.console().print(f"picture: {plot}")


def worksheet(
    samples: Annotated[Path, typer.Argument(help="A CSV file with a column sample.")],
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
    d: Annotated[int | None, typer.Option("--d", help="With kautz-singleton.")] = None,
    max_pool_size: Cap = None,
    wells: Annotated[int, typer.Option(help="96 or 384 on each plate.")] = 96,
    replace: Annotated[
        int, typer.Option(help="Vials to replace by known positives (Algorithm A2); secret.")
    ] = 0,
    seed: Seed = 0,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Write the collector's file, the lab's, and the secret one."""
    import numpy as np

    from dpselect import pooling
    from dpselect.pooling import worksheet as sheets

    names = sheets.read_samples(samples)
    arguments: dict[str, object] = {
        "pools": pools,
        "weight": weight,
        "probability": probability,
        "pool_size": pool_size,
        "rows": rows,
        "columns": columns,
        "d": d,
    }
    rng = np.random.default_rng(_seed(seed))
    matrix = _design(design, len(names), arguments, max_pool_size, rng)
    sheet = pooling.Worksheet(names, matrix, wells=wells)
    budget = options.open_ledger(ledger, source=samples, note=note, analyst=analyst)
    if budget is not None and not replace:
        raise ParameterError("without --replace nothing is private, and nothing can be spent")
    sheet.refuse_if_written(out)
    charge = pooling.plan_replaced(people=len(names), beta=replace)
    facts = _facts(matrix)
    if dry_run and replace:
        if not as_json:
            _print(facts, as_json=False)
        output.print_plan(charge, budget, as_json=as_json)
        return
    if replace:
        facts["lab_sees"] = f"(0, {charge.delta:g})-DP, {charge.neighbours} neighbours"
    if not dry_run:
        replaced = pooling.draw_replaced(people=len(names), beta=replace, budget=budget)
        sheet = pooling.Worksheet(names, matrix, wells=wells, replaced=replaced.positions)
        facts["files"] = [str(path) for path in sheet.write(out)]
    _print(facts, as_json=as_json)


def decode(
    results: Annotated[Path, typer.Argument(help="The lab's CSV file: pool, result.")],
    worksheet: Annotated[Path, typer.Option("--worksheet", help="The collector's file.")],
    decoder: Annotated[str, typer.Option(help="comp, dd, scomp, lp, ilp or bp.")] = "scomp",
    prevalence: Annotated[
        float | None, typer.Option(help="With bp, and with an assay that errs.")
    ] = None,
    sensitivity: Sensitivity = 1.0,
    specificity: Specificity = 1.0,
    dilution: Dilution = 0.0,
    flip: Annotated[float, typer.Option(help="Chance that outcomes were flipped.")] = 0.0,
    secret: Annotated[
        Path | None, typer.Option("--secret", help="The secret file, if vials were replaced.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A new CSV file.")] = None,
    as_json: options.Json = False,
) -> None:
    """Print or write a report; it is as private as the results."""
    from dpselect import pooling
    from dpselect.pooling import worksheet as sheets

    samples, matrix = sheets.read_collector(worksheet)
    report = pooling.decode(
        samples,
        matrix,
        pooling.read_results(results, len(matrix)),
        decoder=decoder,
        assay=_assay(sensitivity, specificity, dilution, flip),
        prevalence=prevalence,
        replaced=() if secret is None else sheets.read_samples(secret),
    )
    if out is not None:
        report.write(out)
    if as_json:
        output.print_json(
            {
                "decoder": report.decoder,
                "converged": report.converged,
                "samples": report.rows(),
            }
        )
        return
    _summarise(report, out)


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


def _facts(matrix: Design) -> dict[str, object]:
    pools, people = matrix.shape
    return {
        "samples": people,
        "pools": pools,
        "largest_pool": int(matrix.sum(axis=1).max()),
        "pools_per_sample": int(matrix.sum(axis=0).max()),
    }


def _privacy(epsilon: float | None, delta: float, neighbours: str) -> OutcomePrivacy | None:
    from dpselect.pooling import OutcomePrivacy

    if epsilon is not None:
        return OutcomePrivacy(epsilon=epsilon, delta=delta, neighbours=neighbours)
    if delta:
        raise ParameterError("--delta goes with --epsilon: give both, or neither")
    options.relation("--neighbours", neighbours)
    return None


def _assay(sensitivity: float, specificity: float, dilution: float, flip: float = 0.0) -> Assay:
    from dpselect.pooling import Assay

    return Assay(sensitivity=sensitivity, specificity=specificity, dilution=dilution, flip=flip)


def _seed(seed: int) -> int:
    if seed < 0:
        raise ParameterError("--seed must be at least 0")
    return seed


def _without_infinities(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without infinities, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in row.items()
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


def _show(found: DesignComparison) -> None:
    from rich.table import Table

    table = Table(title=f"{found.n} people, best first")
    private = found.privacy is not None
    table.add_column("design", no_wrap=True)
    for name in ("pools", "each in", "size", "retests", "false +", "false -", "all right"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("wrong after retests", justify="right")
    if private:
        table.add_column("flip", justify="right")
    for design in found.designs[:MOST_ROWS]:
        table.add_row(
            design.name,
            str(design.pools),
            str(design.weight),
            str(design.largest_pool),
            f"{design.retests:.1f}",
            f"{design.false_positives:.2f}",
            f"{design.false_negatives:.2f}",
            f"{design.exact:.2f}",
            f"{design.errors_after_retests:.2f}",
            *([rounded_up(design.flip)] if private else []),
        )
    output.console().print(table)
    left = len(found.designs) - MOST_ROWS
    if left > 0:
        output.console().print(f"and {left} more: --json has them all")


def rounded_up(probability: float) -> str:
    """Return a flip probability to four digits that is private also as it is printed."""
    upwards = Context(prec=4, rounding=ROUND_CEILING)
    return f"{upwards.create_decimal(Decimal(probability)):g}"


def _summarise(report: Report, out: Path | None) -> None:
    named = [(row["sample"], row) for row in report.rows()]
    output.print_facts(
        {
            "decoder": report.decoder + ("" if report.converged else " (did not converge)"),
            "positive": ", ".join(str(s) for s, row in named if row["positive"]) or "nobody",
            "test again": ", ".join(str(s) for s, row in named if row["retest"]) or "nobody",
        }
    )
    if out is not None:
        output.console().print(f"wrote {out}")
