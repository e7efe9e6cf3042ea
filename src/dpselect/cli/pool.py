"""``dpselect pool``: compare designs of pooled tests, write worksheets, decode results."""

from __future__ import annotations

import re
from dataclasses import asdict
from decimal import ROUND_CEILING, Context, Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect.cli import options, output, waiting
from dpselect.cli.worksheet import Cap, Seed, checked_seed, worksheet
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.pooling import (
        Assay,
        DesignComparison,
        OutcomePrivacy,
        Report,
        SimulatedDesign,
    )

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

    with waiting.working("simulating"):
        found = pooling.compare_designs(
            n=n,
            prevalence=prevalence,
            d=d,
            max_pool_size=max_pool_size,
            assay=_assay(sensitivity, specificity, dilution),
            privacy=_privacy(epsilon, delta, neighbours),
            trials=trials,
            rng=np.random.default_rng(checked_seed(seed)),
        )
    if plot is not None:
        output.save(found.plot(), plot)
    if as_json:
        rows = [_without_infinities(asdict(design)) for design in found.designs]
        output.print_json({"n": found.n, "neighbours": neighbours, "designs": rows})
        return
    _show(found, max_pool_size)
    if plot is not None:
        output.console().print(f"picture: {plot}")


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
        Path | None,
        typer.Option("--secret", help="The secret file, if vials or pools were exchanged."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A new CSV file.")] = None,
    as_json: options.Json = False,
) -> None:
    """Print or write a report; it is as private as the results."""
    from dpselect import pooling
    from dpselect.pooling import worksheet as sheets

    samples, matrix = sheets.read_collector(worksheet)
    replaced, exchanged = ([], []) if secret is None else sheets.read_secret(secret)
    report = pooling.decode(
        samples,
        matrix,
        pooling.read_results(results, len(matrix)),
        decoder=decoder,
        assay=_assay(sensitivity, specificity, dilution, flip),
        prevalence=prevalence,
        replaced=replaced,
        exchanged=exchanged,
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


def _without_infinities(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without infinities, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in row.items()
    }


def _show(found: DesignComparison, cap: int | None) -> None:
    from rich import box
    from rich.table import Table

    table = Table(title=f"{found.n} people, best first", box=box.SIMPLE_HEAD, pad_edge=False)
    private = found.privacy is not None
    table.add_column("design", no_wrap=True)
    for name in ("tests", "pools", "retests", "each in", "size", "wrong"):
        table.add_column(name, justify="right", no_wrap=True)
    if private:
        table.add_column("flip", justify="right")
    for design in found.designs[:MOST_ROWS]:
        table.add_row(
            design.name,
            f"{design.tests:.0f}",
            str(design.pools),
            f"{design.retests:.1f}",
            str(design.weight),
            str(design.largest_pool),
            f"{design.errors_after_retests:.2f}",
            *([rounded_up(design.flip)] if private else []),
        )
    output.console().print(table)
    left = len(found.designs) - MOST_ROWS
    if left > 0:
        output.console().print(f"and {left} more: --json has them all")
    output.console().print(
        "best: fewest wrong answers that are left after retests (to 0.1), then fewest tests; "
        "tests are pools and expected retests. Expected numbers, simulated."
    )
    further = next_command(found.designs[0], cap)
    if further:
        output.console().print(f"next: {further}", soft_wrap=True)


def rounded_up(probability: float) -> str:
    """Return a flip probability to four digits that is private also as it is printed."""
    upwards = Context(prec=4, rounding=ROUND_CEILING)
    return f"{upwards.create_decimal(Decimal(probability)):g}"


def next_command(design: SimulatedDesign, cap: int | None) -> str | None:
    """Return the command that writes the worksheets of a design, where there is one.

    Args:
        design: A compared design.
        cap: Samples that a pool may hold.
    """
    side = re.fullmatch(r"array (\d+) x (\d+)", design.name)
    weighted = f"--pools {design.pools} --weight {design.weight}"
    if design.name.startswith("doubly balanced"):
        chosen = f"balanced {weighted}"
    elif design.name.startswith("near-constant"):
        chosen = f"near-constant {weighted}"
    elif design.name.startswith("Dorfman"):
        chosen = f"dorfman --pool-size {design.largest_pool}"
    elif side:
        chosen = f"array --rows {side[1]} --columns {side[2]}"
    else:
        return None
    limit = "" if cap is None else f" --max-pool-size {cap}"
    return f"dpselect pool worksheet SAMPLES.csv --design {chosen}{limit} --out FOLDER"


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
