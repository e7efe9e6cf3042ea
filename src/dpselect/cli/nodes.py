"""``dpselect nodes``: release the most influential nodes of a network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpselect.cli import engines, options, output
from dpselect.errors import DataError, ParameterError

if TYPE_CHECKING:
    from dpselect.mechanisms import Mechanism
    from dpselect.networks import EdgeTable, Graph, Metric

HELP = """Release the k most influential nodes of a network; one edge is protected.

The nodes are public and must be given: their number, if ids are 0 to N-1, or a text file with
one label per line. With several --objective the nodes must be good at all of them.
With --engine spark only counts of nodes leave the cluster.

[bold]dpselect nodes friends.parquet --nodes 36692 --k 5 --metric ego-betweenness \
--mechanism pairwise --epsilon 1[/bold]

[bold]dpselect nodes friends.csv --nodes people.txt --k 3 --objective degree \
--objective ego-density --combine pareto --mechanism shifted --epsilon 1[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("nodes", help=HELP)(nodes)


def nodes(
    edges: engines.Data,
    node_set: Annotated[
        str, typer.Option("--nodes", help="N for ids 0 to N-1, or a file of labels. Public.")
    ],
    epsilon: options.Epsilon,
    k: Annotated[int, typer.Option("--k", help="How many nodes.")] = 1,
    source: Annotated[str, typer.Option(help="The column of one end.")] = "source",
    target: Annotated[str, typer.Option(help="The column of the other end.")] = "target",
    metric: Annotated[
        str | None, typer.Option(help="degree, ego-density or ego-betweenness.")
    ] = None,
    objective: Annotated[
        list[str] | None, typer.Option(help="Like --metric, for several at once.")
    ] = None,
    combine: Annotated[
        str, typer.Option(help="pareto, weighted-sum or margin, for several objectives.")
    ] = "pareto",
    weights: Annotated[
        str | None, typer.Option(help="One for each objective, as 1,100, for weighted-sum.")
    ] = None,
    max_degree: Annotated[
        int | None,
        typer.Option(help="A public bound on the degrees, for ego-betweenness."),
    ] = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help="exponential, permute-and-flip, noisy-max, local-dampening, shifted, "
            "anchored or pairwise."
        ),
    ] = "permute-and-flip",
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    plot: options.Plot = None,
    data_is_public: options.DataIsPublic = False,
) -> None:
    """Release the k most influential nodes."""
    if plot is not None:
        options.declared_public(data_is_public, "dpselect nodes --plot")
    from dpselect.networks import Graph, influential_nodes

    engines.checked(engine, master)
    score = _metric(metric, objective, combine, weights, max_degree, mechanism)
    labels = _labels(node_set)
    budget = options.open_ledger(ledger)
    empty = Graph.without_edges(labels)
    if dry_run:
        output.print_plan(_plan(empty, score, mechanism, epsilon, k), budget, as_json=as_json)
        return
    with output.working("reading edges and scoring nodes"):
        graph = _graph(edges, labels, source, target, engine, master)
        release = influential_nodes(
            graph, k, metric=score, mechanism=mechanism, epsilon=epsilon, budget=budget
        )
    output.print_release(release, "nodes" if k > 1 else "node", budget, as_json=as_json)
    if plot is not None:
        _plot(graph, score, _mechanism(empty, score, mechanism, epsilon / k), plot)


def _metric(
    metric: str | None,
    objectives: list[str] | None,
    combine: str,
    weights: str | None,
    max_degree: int | None,
    mechanism: str,
) -> Metric:
    """Return the metric that the options describe."""
    if (metric is None) == (not objectives):
        raise ParameterError("give --metric, or --objective at least twice")
    if metric is not None:
        if weights is not None:
            raise ParameterError("--weights goes with several --objective")
        return _single(metric, max_degree, mechanism)
    from dpselect.networks import Margin, Pareto, WeightedSum

    parts = [_single(name, max_degree, mechanism) for name in objectives or []]
    if combine == "weighted-sum":
        if weights is None:
            raise ParameterError("--combine weighted-sum needs --weights, as 1,100")
        return WeightedSum(parts, weights=options.numbers("--weights", weights))
    if weights is not None:
        raise ParameterError("--weights goes with --combine weighted-sum")
    if combine not in {"pareto", "margin"}:
        raise ParameterError("--combine must be pareto, weighted-sum or margin")
    return Pareto(parts) if combine == "pareto" else Margin(parts)


def _single(name: str, max_degree: int | None, mechanism: str) -> Metric:
    from dpselect.networks import EgoBetweenness
    from dpselect.networks.metrics import named

    metric = named(name, mechanism)
    if max_degree is None:
        return metric
    if not isinstance(metric, EgoBetweenness):
        raise ParameterError("--max-degree goes with ego-betweenness")
    return replace(metric, max_degree=max_degree)


def _labels(text: str) -> int | list[str]:
    """Return the number of nodes, or the labels in a file."""
    if text.isdecimal():
        return int(text)
    path = Path(text)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise DataError(
            f"--nodes must be a number, or a text file with one label per line; cannot read "
            f"{path}"
        ) from None
    return [line for line in lines if line]


def _graph(
    path: str,
    labels: int | list[str],
    source: str,
    target: str,
    engine: str,
    master: str | None,
) -> Graph | EdgeTable:
    """Return the graph, or the table of its edges in an engine."""
    from dpselect.networks import EdgeTable, Graph

    if engine == "memory":
        return Graph.from_edges(path, nodes=labels, source=source, target=target)
    whole = [source, target] if isinstance(labels, int) else []
    held = path if engine == "polars" else engines.opened(path, engine, master, whole=whole)
    return EdgeTable(held, nodes=labels, source=source, target=target)


def _mechanism(graph: Graph, score: Metric, name: str, epsilon: float) -> Mechanism:
    from dpselect.mechanisms import by_name

    return by_name(name, epsilon, anchor=score.largest(graph), direction=score.direction)


def _plan(empty: Graph, score: Metric, name: str, epsilon: float, k: int) -> output.Plan:
    """Plan from the graph without edges: it has the same public bounds."""
    from dpselect import _validate
    from dpselect.accuracy import error_bound
    from dpselect.neighbours import Neighbours

    _validate.at_least("k", k, 1)
    mechanism = _mechanism(empty, score, name, epsilon)
    error = error_bound(
        replace(mechanism, epsilon=epsilon / k),
        candidates=len(empty),
        bound=score.objective(empty).sensitivity.bound,
    )
    return output.Plan(mechanism, Neighbours.EDGE, error, f"units of {score.name}")


def _plot(graph: Graph | EdgeTable, score: Metric, mechanism: Mechanism, path: Path) -> None:
    """Draw the exact selection probabilities of one round against the metric."""
    from matplotlib import pyplot as plt

    objective = score.objective(graph)
    axes = plt.subplots(figsize=(7, 4.5), layout="constrained")[1]
    axes.plot(objective.scores, mechanism.probabilities(objective), ".", alpha=0.4)
    axes.set(
        xlabel=score.name,
        ylabel="P(chosen first)",
        yscale="log",
        title=f"{mechanism.label}, epsilon = {mechanism.epsilon:g} a round; not private",
    )
    output.save(axes, path)
