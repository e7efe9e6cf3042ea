"""``dpselect nodes``: release the most influential nodes of a network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect._optional import needed
from dpselect.cli import engines, options, output, waiting
from dpselect.cli.choices import ListsNames
from dpselect.errors import DataError, ParameterError
from dpselect.passes import Pass

if TYPE_CHECKING:
    from dpselect.networks import NodeCounts
    from dpselect.release import Release
    from dpselect.typing import OnInvalid

HELP = """Release the k most influential nodes of a network; one edge is protected.

The nodes are public and must be given: their number, if ids are 0 to N-1, or a text file with
one label per line. With several --metric the nodes must be good in all of them. An edge that
names another node, or joins a node to itself, is left out.
With --above in place of --k all nodes of at least such a noisy score are released, and with
--hubs the estimates of a metric of hubs.
With --user one person is protected with all rows, such as the calls that a customer made, of
which --max-per-user different edges count; else one edge.
With --engine spark only counts of nodes leave the cluster.

[bold]dpselect nodes friends.parquet --nodes 36692 --k 5 --metric ego-betweenness \
--epsilon 1[/bold]

[bold]dpselect nodes friends.csv --nodes people.txt --k 3 --metric degree \
--metric ego-density --combine pareto --epsilon 1[/bold]
"""


class _ListsMetrics(ListsNames):
    """A command whose options may also have ``{metrics}`` in their help."""

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401 -- typer's own context has no name
        """Return the help with the names filled in."""
        from dpselect.networks import METRICS

        for option in self.params:
            if getattr(option, "help", None):
                option.help = option.help.replace("{metrics}", ", ".join(METRICS))  # type: ignore[attr-defined]
        return super().get_help(ctx)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("nodes", help=HELP, cls=_ListsMetrics)(nodes)


def nodes(
    edges: engines.Data,
    node_set: Annotated[
        str, typer.Option("--nodes", help="N for ids 0 to N-1, or a file of labels. Public.")
    ],
    metric: Annotated[list[str], typer.Option(help="{metrics}; may be repeated.")],
    epsilon: options.Epsilon,
    k: Annotated[
        int | None, typer.Option("--k", help="How many nodes; 1 if not given.")
    ] = None,
    above: options.Above = None,
    scores: options.Scores = False,
    hubs: Annotated[
        int | None,
        typer.Option(
            help="Choose by ego-betweenness or ego-density among so many nodes of large noisy "
            "degrees, in two steps."
        ),
    ] = None,
    source: Annotated[str, typer.Option(help="The column of one end.")] = "source",
    target: Annotated[str, typer.Option(help="The column of the other end.")] = "target",
    user: options.User = None,
    max_per_user: Annotated[
        int | None,
        typer.Option(
            "--max-per-user", help="With --user: how many different edges of a person count."
        ),
    ] = None,
    combine: Annotated[
        str | None,
        typer.Option(help="For several metrics: {combinations}; pareto if not given."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="One for each metric, as 1,100, for weighted-sum.")
    ] = None,
    among: Annotated[
        str | None,
        typer.Option(
            help="What pareto and margin compare each of several nodes with: all nodes, or "
            "those left, which were not drawn yet; all if not given."
        ),
    ] = None,
    max_degree: Annotated[
        int | None,
        typer.Option(help="A public bound on the degrees, for ego-betweenness."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(help="{mechanisms}; if not given, the one that suits the metric."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a record that is no edge of the graph.")
    ] = False,
    where: engines.Where = None,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    plot: options.Plot = None,
    data_is_public: options.DataIsPublic = False,
) -> None:
    """Release the k most influential nodes."""
    edges = engines.rows_of(edges, separator, where, None)
    if plot is not None:
        options.declared_public(data_is_public, "dpselect nodes --plot")
    from functools import partial

    from dpselect.mechanisms import NoisySequence
    from dpselect.networks import plan_hubs, plan_nodes, release_hubs, release_nodes

    engines.checked(engine, master)
    labels = _labels(node_set)
    if plot is not None and above is not None:
        raise ParameterError("--plot shows P(chosen first) of a release of --k nodes")
    if scores and mechanism is not None:
        raise ParameterError("--scores draws by the noisy sequence: leave out --mechanism")
    k = 1 if k is None and above is None else k
    asked: dict[str, Any] = {
        "above": above,
        "metric": metric,
        "combine": "pareto" if combine is None and len(metric) > 1 else combine,
        "weights": None if weights is None else options.numbers("--weights", weights),
        "max_degree": max_degree,
        "mechanism": mechanism,
    }
    if among is not None:
        asked["among"] = among
    if hubs is not None:
        asked = _of_hubs(asked, hubs, plot, scores=scores)
    elif scores:
        asked["mechanism"] = partial(NoisySequence, with_scores=True)
    asked["max_per_user"] = max_per_user
    planned, released = (
        (plan_nodes, release_nodes) if hubs is None else (plan_hubs, release_hubs)
    )
    ends = {"source": source, "target": target, "user": user, "max_per_user": max_per_user}
    budget = options.open_ledger(ledger, source=edges, note=note, analyst=analyst)
    top: Any = k
    plan = planned(labels, top, **asked, epsilon=epsilon)
    if dry_run:
        _check_table(edges, labels, ends, engine, master)
        plan = replace(plan, passes=((Pass(1),) * strict + plan.passes))
        output.print_plan(plan, budget, source=edges, as_json=as_json, engine=engine)
        return
    with waiting.working("reading edges and scoring nodes"):
        graph = _graph(edges, labels, ends, strict, engine, master)
        release = released(graph, top, **asked, epsilon=epsilon, budget=budget)
    output.print_release(
        release,
        "node" if k == 1 else "nodes",
        budget,
        source=edges,
        as_json=as_json,
        more=_scores(release),
    )
    if plot is not None:
        asked = {key: value for key, value in asked.items() if key not in {"above", "among"}}
        _plot(graph, {**asked, "epsilon": epsilon / top}, plot)


def _of_hubs(
    asked: dict[str, Any], hubs: int, plot: Path | None, *, scores: bool
) -> dict[str, Any]:
    """Return the options of a release of hubs; refuse those that it does not have."""
    [metric, *others] = asked.pop("metric")
    if others or plot is not None or scores or any(one is not None for one in asked.values()):
        raise ParameterError(
            "--hubs takes one --metric, and no --above, --scores, --combine, --weights, "
            "--among, --max-degree, --mechanism or --plot; it releases its estimates"
        )
    return {"metric": metric, "hubs": hubs}


def _scores(release: Release) -> dict[str, str]:
    """Return the noisy scores of a release in words, if it has any."""
    if release.noisy_scores is None:
        return {}
    pairs = zip(release.answer, release.noisy_scores, strict=True)
    return {"noisy scores": ", ".join(f"{node}: {score:.6g}" for node, score in pairs)}


def _check_table(
    path: str,
    labels: int | list[str],
    ends: dict[str, Any],
    engine: str,
    master: str | None,
) -> None:
    """Check the columns and their types as a release does; no row is read."""
    from dpselect import tables
    from dpselect.networks.edge_queries import MOST_LABELS

    if engine == "memory" and not isinstance(labels, int) and len(labels) > MOST_LABELS:
        columns = [ends["source"], ends["target"]]
        tables.check_columns(path, plain=columns)
    else:
        engine = "polars" if engine == "memory" else engine
        _graph(path, labels, ends, False, engine, master)


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
    ends: dict[str, Any],
    strict: bool,
    engine: str,
    master: str | None,
) -> NodeCounts:
    """Return the graph, or the table of its edges in an engine."""
    from dpselect.networks import EdgeTable, Graph

    on_invalid: OnInvalid = "raise" if strict else "repair"
    if engine == "memory":
        return Graph.from_edges(path, **ends, nodes=labels, on_invalid=on_invalid)
    integer = [ends["source"], ends["target"]] if isinstance(labels, int) else []
    held = path if engine == "polars" else engines.opened(path, engine, master, whole=integer)
    return EdgeTable(held, **ends, nodes=labels, on_invalid=on_invalid)


def _plot(graph: NodeCounts, asked: dict[str, Any], path: Path) -> None:
    """Draw the exact selection probabilities of one round against the metric."""
    needed("matplotlib", extra="standard")
    from matplotlib.figure import Figure

    from dpselect.networks.metrics import choose

    choice = choose(**asked)
    objective = choice.objective(graph)
    axes = Figure(figsize=(7, 4.5), layout="constrained").subplots()
    axes.plot(objective.scores, choice.mechanism.probabilities(objective), ".", alpha=0.4)
    axes.set(
        xlabel=choice.name,
        ylabel="P(chosen first)",
        yscale="log",
        title=f"{choice.mechanism.label}, epsilon = {choice.mechanism.epsilon:g} a round; "
        "not private",
    )
    output.save(axes, path)
