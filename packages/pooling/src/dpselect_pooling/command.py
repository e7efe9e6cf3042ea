"""``dpselect pool``: compare designs of pooled tests, write worksheets, decode results.

The program ``dpselect`` adds them where this package is installed.
"""

from __future__ import annotations

import re
from dataclasses import asdict, replace as changed
from decimal import ROUND_CEILING, Context, Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from dpselect.errors import ParameterError
from dpselect.extend import command, options, output, validation

if TYPE_CHECKING:
    import numpy as np

    from dpselect_pooling import (
        Assay,
        DesignComparison,
        OutcomePrivacy,
        ReplacedSamples,
        Report,
        Screening,
        SimulatedDesign,
        SwappedPools,
    )
    from dpselect_pooling.designs import Design

HELP = """Plan and decode pooled tests.

With --replace, or --clean and --contaminated, 'pool worksheet' makes the private tests of
subset retrieval, section V: pooled tests with the noise of its equations (21) and (22).

$ dpselect pool plan --n 500 --prevalence 0.02 --max-pool-size 32 --sensitivity 0.95 \
--specificity 0.99

$ dpselect pool worksheet samples.csv --design balanced --pools 100 --weight 3 \
--out monday

$ dpselect pool decode results.csv --worksheet monday/collector.csv \
--method belief-propagation --prevalence 0.02 --out report.csv
"""

MOST_ROWS = 12

BEWARE = "no pool has a valid result: nothing was decoded, every sample is to be tested again"

DESIGNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "balanced": ("doubly_balanced", ("pools", "weight")),
    "near-constant": ("near_constant_column_weight", ("pools", "weight")),
    "bernoulli": ("bernoulli", ("pools", "probability")),
    "dorfman": ("dorfman", ("pool_size",)),
    "array": ("array_2d", ("rows", "columns")),
    "kautz-singleton": ("kautz_singleton", ("d",)),
}
"""Function and options by name; those with pools are drawn."""


def register(app: typer.Typer) -> None:
    """Add the commands to the program ``dpselect``."""
    commands = typer.Typer(help=HELP, no_args_is_help=True)
    for one in (plan, worksheet, decode):
        command(commands, one)
    app.add_typer(commands, name="pool")


def plan(
    *,
    n: int,
    prevalence: float | None = None,
    d: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    neighbours: str = "substitute",
    max_pool_size: int | None = None,
    max_transfers: int | None = None,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
    dilution: float = 0.0,
    trials: int = 200,
    seed: int = 0,
    plot: Path | None = None,
    as_json: bool = False,
) -> None:
    """Simulate the designs that fit and compare them; no sample is read.

    Args:
        n: People.
        prevalence: Share of positives.
        d: Positives, in place of a share.
        epsilon: Flip outcomes so that they are private for it; without it the lab is trusted.
        delta: Delta, with epsilon.
        neighbours: substitute (one status changes) or swap.
        max_pool_size: Samples that a pool may hold.
        max_transfers: How often samples may be pipetted into pools in all.
        sensitivity: P(positive result | a positive in the pool).
        specificity: P(negative result | none in the pool).
        dilution: Sensitivity is multiplied by (share of positives)^dilution.
        trials: Rounds to simulate for each design.
        seed: Seed of the design, which is public.
    """
    import dpselect_pooling as pooling

    screening = pooling.Screening(
        n=n,
        prevalence=prevalence,
        d=d,
        max_pool_size=max_pool_size,
        max_transfers=max_transfers,
        assay=_assay(sensitivity, specificity, dilution),
        privacy=_privacy(epsilon, delta, neighbours),
    )
    with Console(stderr=True).status("simulating ...") as line:

        def show(done: int, whole: int) -> None:
            line.update(f"simulating, {done} of {whole} designs ...")

        found = pooling.compare_designs(screening, trials=trials, rng=_rng(seed), progress=show)
    if plot is not None:
        output.save(found.plot(), plot)
    if as_json:
        rows = [_without_infinities(asdict(design)) for design in found.designs]
        output.print_json({"n": n, "neighbours": neighbours, "designs": rows})
        return
    _show(found)
    if plot is not None:
        output.console().print(f"picture: {plot}")


def worksheet(
    samples: Path,
    *,
    out: Path,
    design: str = "balanced",
    pools: int | None = None,
    weight: int | None = None,
    probability: float | None = None,
    pool_size: int | None = None,
    rows: int | None = None,
    columns: int | None = None,
    d: int | None = None,
    max_pool_size: int | None = None,
    wells: int = 96,
    replace: int = 0,
    clean: float = 0.0,
    contaminated: float = 0.0,
    neighbours: str = "substitute",
    epsilon: float | None = None,
    seed: int = 0,
    ledger: Path | None = None,
    note: str | None = None,
    analyst: str | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Write which sample goes into which pool.

    A file for the collector, one for the lab, and a secret one are written. A kautz-singleton
    design is made for the positives and the replaced vials together.

    Args:
        samples: A CSV file with a column sample; plate and well, if it has them.
        out: A folder for the worksheets.
        design: One of balanced, near-constant, bernoulli, dorfman, array,
            kautz-singleton.
        pools: Pooled tests.
        weight: Pools for each sample.
        probability: Probability of a sample in a pool, with bernoulli.
        pool_size: Samples in a pool of dorfman.
        rows: Rows of an array.
        columns: Columns of an array.
        d: Positives; with kautz-singleton found for certain.
        max_pool_size: Samples that a pool may hold.
        wells: 96 or 384 on each plate.
        replace: Vials to replace by known positives (Algorithm A2); secret.
        clean: Chance that a pool is exchanged for a clean one; secret.
        contaminated: Chance that it is exchanged for a contaminated one; secret.
        neighbours: substitute or swap, with --clean or --contaminated.
        epsilon: Epsilon that delta is stated for; by default the least with delta 0.
        seed: Seed of the design, which is public.
    """
    import dpselect_pooling as pooling
    from dpselect_pooling import worksheet as sheets
    from dpselect_pooling.plates import PLATES, read_places

    names = sheets.read_samples(samples)
    certain = design == "kautz-singleton"
    arguments: dict[str, object] = {
        "pools": pools,
        "weight": weight,
        "probability": probability,
        "pool_size": pool_size,
        "rows": rows,
        "columns": columns,
        "d": d + replace if certain and d is not None else None,
    }
    matrix = _design(design, len(names), arguments, max_pool_size, _rng(seed))
    places = read_places(str(samples), names, wells) if wells in PLATES else None
    sheet = pooling.Worksheet(names, matrix, wells=wells, places=places)
    budget = options.open_ledger({"ledger": ledger, "note": note, "analyst": analyst}, samples)
    noise: ReplacedSamples | SwappedPools | None = None
    if clean > 0 or contaminated > 0:
        if replace:
            raise ParameterError("`replace` does not go with `clean` and `contaminated`")
        noise = _exchange(matrix, d, clean, contaminated, epsilon, neighbours)
    elif epsilon is not None:
        raise ParameterError("`epsilon` goes with `clean` or `contaminated`")
    elif replace:
        known: dict[str, Any] = {} if d is None else {"matrix": matrix, "d": d}
        noise = pooling.ReplacedSamples(people=len(names), beta=replace, **known)
    elif budget is not None:
        raise ParameterError(
            "without `replace`, `clean` or `contaminated` nothing is private, and nothing can "
            "be spent"
        )
    sheet.refuse_if_written(out)
    facts = _facts(matrix)
    if noise is not None:
        charge = noise.plan
        if dry_run:
            if not as_json:
                _print(facts, as_json=False)
            output.print_plan(charge, budget, as_json=as_json)
            return
        facts["lab_sees"] = (
            f"({charge.epsilon:g}, {charge.delta:g})-DP, {charge.neighbours} neighbours, if "
            "it does not collude with the collector"
        )
        drawn = noise.draw(budget=budget).answer
        sheet = changed(sheet, replaced=drawn) if replace else changed(sheet, states=drawn)
    if not dry_run:
        facts["files"] = [str(path) for path in sheet.write(out)]
    _print(facts, as_json=as_json)


def decode(
    results: Path,
    *,
    worksheet: Path,
    retests: Path | None = None,
    method: str | None = None,
    prevalence: float | None = None,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
    dilution: float = 0.0,
    flip: float = 0.0,
    secret: Path | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Report who is positive and whom to retest.

    The report is as private as the results. Each sample is certainly positive, certainly
    negative, or in doubt and to be tested again.

    Args:
        results: The lab's CSV file: pool, result. Results are positive, negative or invalid (1,
            +, detected; 0, -, not detected; empty).
        worksheet: The collector's file.
        retests: Results of samples that were tested again, a CSV file: sample, result.
        method: comp, dd, scomp, integer-program or belief-propagation; by
            default scomp, and belief-propagation with an assay that errs.
        prevalence: With belief-propagation, and with an assay that errs.
        sensitivity: P(positive result | a positive in the pool).
        specificity: P(negative result | none in the pool).
        dilution: Sensitivity is multiplied by (share of positives)^dilution.
        flip: Chance that outcomes were flipped.
        secret: The secret file, if vials or pools were exchanged.
        out: A new CSV file.
    """
    import dpselect_pooling as pooling
    from dpselect_pooling import worksheet as sheets

    samples, matrix = sheets.read_collector(worksheet)
    replaced, exchanged = ([], []) if secret is None else sheets.read_secret(secret)
    outcomes = pooling.read_results(results, len(matrix))
    report = pooling.decode(
        samples,
        matrix,
        outcomes,
        method=method,
        assay=_assay(sensitivity, specificity, dilution, flip),
        prevalence=prevalence,
        replaced=replaced,
        exchanged=exchanged,
    )
    if retests is not None:
        report = report.after(pooling.read_retests(retests))
    if out is not None:
        report.write(out)
    valid = int(outcomes.valid.sum())
    if valid == 0:
        output.print_note("warning", BEWARE)
    if as_json:
        facts = {"method": report.method, "converged": report.converged, "valid_pools": valid}
        output.print_json({**facts, "samples": report.rows()})
        return
    _summarise(report, out, valid, len(matrix))


def _rng(seed: int) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(validation.at_least("seed", seed, 0))


def _privacy(epsilon: float | None, delta: float, neighbours: str) -> OutcomePrivacy | None:
    from dpselect_pooling import OutcomePrivacy

    if epsilon is not None:
        relation = validation.neighbours(neighbours)
        return OutcomePrivacy(epsilon=epsilon, delta=delta, neighbours=relation)
    if delta:
        raise ParameterError("`delta` goes with `epsilon`: give both, or neither")
    validation.neighbours(neighbours)
    return None


def _assay(sensitivity: float, specificity: float, dilution: float, flip: float = 0.0) -> Assay:
    from dpselect_pooling import Assay

    return Assay(sensitivity=sensitivity, specificity=specificity, dilution=dilution, flip=flip)


def _design(
    name: str,
    people: int,
    arguments: dict[str, object],
    cap: int | None,
    rng: np.random.Generator,
) -> Design:
    import dpselect_pooling as pooling

    function, needed = DESIGNS[validation.one_of("design", name, DESIGNS)]
    for option, value in arguments.items():
        if option in needed and value is None:
            raise ParameterError(f"`design` {name} needs `{option}`")
        if option not in needed and value is not None:
            raise ParameterError(f"`{option}` does not go with `design` {name}")
    given: dict[str, Any] = {option: arguments[option] for option in needed}
    if "pools" in needed:
        given["rng"] = rng
    if name == "balanced":
        given["max_pool_size"] = cap
    matrix: Design = getattr(pooling, function)(people, **given)
    if cap is not None and matrix.sum(axis=1).max() > cap:
        raise ParameterError(
            f"this design has a pool above `max_pool_size`={cap}: take more or smaller pools, "
            "or `design`=balanced"
        )
    return matrix


def _exchange(
    matrix: Design,
    d: int | None,
    clean: float,
    contaminated: float,
    epsilon: float | None,
    neighbours: str,
) -> SwappedPools:
    """Return the query of exchanged pools, for the least epsilon if none is given."""
    import dpselect_pooling as pooling

    noise = pooling.IndependentNoise(clean, contaminated)
    relation = validation.neighbours(neighbours)
    at = noise.epsilon(matrix, neighbours=relation) if epsilon is None else epsilon
    if not isfinite(at):
        raise ParameterError(
            "with only one of `clean` and `contaminated` some outcomes are certain: give "
            "`epsilon`, for which delta is stated, or both"
        )
    return pooling.SwappedPools(
        matrix=matrix,
        clean=clean,
        contaminated=contaminated,
        d=d,
        epsilon=at,
        neighbours=relation,
    )


def _facts(matrix: Design) -> dict[str, object]:
    from dpselect_pooling import positives_found

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


def _without_infinities(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without infinities, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in row.items()
    }


def _show(found: DesignComparison) -> None:
    from rich import box
    from rich.table import Table

    title = f"{found.screening.n} people, best first"
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    private = found.screening.privacy is not None
    table.add_column("design", no_wrap=True)
    counted = ("pools",) if private else ("tests", "pools", "retests")
    for name in (*counted, "transfers", "size", "wrong", *["flip"] * private):
        table.add_column(name, justify="right", no_wrap=True)
    best: dict[str, SimulatedDesign] = {}
    for design in found.designs:
        best.setdefault(design.name, design)
    shown = list(best.values())[:MOST_ROWS]
    for design in shown:
        table.add_row(
            design.name,
            *([] if private else [f"{design.tests:.0f}"]),
            str(design.pools),
            *([] if private else [f"{design.retests:.1f}"]),
            str(design.transfers),
            str(design.largest_pool),
            f"{design.errors if private else design.errors_after_retests:.2f}",
            *([rounded_up(design.flip)] if private else []),
        )
    output.console().print(table)
    if len(shown) < len(found.designs):
        output.console().print(
            f"each with its best number of pools: --json has all {len(found.designs)} rows"
        )
    best_is = (
        "fewest wrong answers (to 0.1) without retests, which no flip protects, then fewest "
        "pools"
        if private
        else "fewest wrong answers that are left after retests (to 0.1), then fewest tests, "
        "which are pools and expected retests"
    )
    positives = found.screening.n * found.screening.share
    output.console().print(
        f"best: {best_is}; transfers are of a sample into a pool (--max-transfers). Expected "
        f"numbers, simulated; to call everybody negative has {positives:.2f} wrong."
    )
    further = (next_command(one, found.screening) for one in found.designs)
    if command := next(filter(None, further), None):
        output.console().print(f"next: {command}", soft_wrap=True)


def rounded_up(probability: float) -> str:
    """Return a flip probability to four digits that is private also as it is printed."""
    upwards = Context(prec=4, rounding=ROUND_CEILING)
    return f"{upwards.create_decimal(Decimal(probability)):g}"


def next_command(design: SimulatedDesign, screening: Screening) -> str | None:
    """Return the command that writes the worksheets of a design, where there is one.

    Where outcomes are to be private, the collector exchanges pools in secret: each for a clean
    one and for a contaminated one with the probability of a flip, so that it has the
    distribution, and the price, of flipped outcomes.

    Args:
        design: A compared design.
        screening: What it was compared for.
    """
    cap, privacy = screening.max_pool_size, screening.privacy
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
    if privacy is not None:
        flip = rounded_up(design.flip)
        limit += f" --clean {flip} --contaminated {flip} --neighbours {privacy.neighbours}"
        limit += f" --epsilon {privacy.epsilon!r}" if privacy.delta else ""
        limit += " --ledger LEDGER"
    return f"dpselect pool worksheet SAMPLES.csv --design {chosen}{limit} --out FOLDER"


def _summarise(report: Report, out: Path | None, valid: int, pools: int) -> None:
    named: dict[object, list[str]] = {}
    for row in report.rows():
        named.setdefault(row["status"], []).append(str(row["sample"]))
    doubtful = named.get("retest", [])
    again = f"{len(doubtful)}: {', '.join(doubtful)}" if doubtful else "none"
    others = len(named.get("negative", []))
    output.print_facts(
        {
            "method": report.method + ("" if report.converged else " (did not converge)"),
            "valid results": f"{valid} of {pools}",
            "certain": ", ".join(named.get("positive", [])) or "none",
            "to retest": again if valid else f"all {len(doubtful)}",
            "negative": f"{others} others" if others else "none",
        }
    )
    if doubtful and valid:
        output.console().print(
            "give the results of those to retest back by --retests: a file with the columns "
            "sample and result"
        )
    if out is not None:
        output.console().print(f"wrote {out}")
