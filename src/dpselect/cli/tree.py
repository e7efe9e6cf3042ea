"""``dpselect tree``, ``trees-front`` and ``domains``: private decision trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from dpselect.cli import engines, options, output, waiting
from dpselect.cli.choices import ListsNames
from dpselect.errors import ColumnError, DataError, ParameterError

if TYPE_CHECKING:
    from dpselect.tables.users import UserCap
    from dpselect.trees.declaration import Declaration

TREE_HELP = """Train a decision tree privately; print it with its plan.

--domains names a file of public claims: classes, a domain for every column, a bound on the
number of records; 'dpselect domains' writes a template. Values outside are repaired. With
--user one person is protected with all rows, of which --max-per-user count; else one row.

[bold]dpselect tree adult.parquet --label income --domains adult.json --epsilon 1[/bold]

[bold]dpselect tree visits.parquet --label again --domains visits.json --user patient \
--max-per-user 3 --epsilon 1[/bold]
"""
FRONT_HELP = """Evolve cost-sensitive trees privately and show how they trade the two rates.

[bold]dpselect trees-front adult.parquet --label income --domains adult.json --epsilon 1 \
--weights 3,2 --plot front.png[/bold]
"""
DOMAINS_HELP = """Write a template of a domains file from column names and types.

No value is read. With --data-is-public bounds, categories and classes are read off the values.

[bold]dpselect domains adult.parquet --label income > adult.json[/bold]
"""

Label: TypeAlias = Annotated[str, typer.Option(help="The column of the classes.")]
Domains: TypeAlias = Annotated[Path, typer.Option(help="The domains file (JSON); public.")]
MaxDepth: TypeAlias = Annotated[int, typer.Option(help="Splits on a path, at most.")]
Relation: TypeAlias = Annotated[str, typer.Option(help="add-remove or substitute.")]
Strict: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--strict", help="Raise for a value outside of its domain; then that is public."
    ),
]
Save: TypeAlias = Annotated[Path | None, typer.Option(help="Write what is released as JSON.")]
Test: TypeAlias = Annotated[
    Path | None, typer.Option(help="Public records to measure the accuracy on.")
]
TestIsPublic: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--test-is-public", help="Declare that the test data are public: accuracies are exact."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("tree", help=TREE_HELP, cls=ListsNames)(tree)
    app.command("trees-front", help=FRONT_HELP)(trees_front)
    app.command("domains", help=DOMAINS_HELP)(domains)


def tree(
    data: engines.Data,
    label: Label,
    domains: Domains,
    epsilon: options.Epsilon,
    max_depth: MaxDepth = 5,
    criterion: Annotated[
        str, typer.Option(help="information-gain, gini or majority.")
    ] = "information-gain",
    mechanism: Annotated[
        str | None,
        typer.Option(help="One of {mechanisms}; if not given, the one that suits."),
    ] = None,
    user: options.User = None,
    max_per_user: options.MaxPerUser = None,
    neighbours: Relation = "add-remove",
    strict: Strict = False,
    test: Test = None,
    test_is_public: TestIsPublic = False,
    save: Save = None,
    plot: options.Plot = None,
    where: engines.Where = None,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Train one tree."""
    data = engines.rows_of(data, separator, where, neighbours)
    from dpselect.trees import ID3Classifier

    declared = _declared(domains, label)
    classifier = ID3Classifier(
        epsilon,
        max_depth=max_depth,
        criterion=criterion,  # type: ignore[arg-type]
        mechanism=mechanism,
        budget=options.open_ledger(ledger, source=data, note=note, analyst=analyst),
        **_common(declared, user, max_per_user, neighbours, strict),
    )
    held = data, engine, master
    _train(classifier, declared, held, test, (test_is_public, dry_run, as_json), save, plot)


def trees_front(
    data: engines.Data,
    label: Label,
    domains: Domains,
    epsilon: options.Epsilon,
    selection: Annotated[
        str, typer.Option(help="weighted-sum, pareto or margin.")
    ] = "weighted-sum",
    sensitivity: Annotated[
        str, typer.Option(help="noisy-denominators, local or global.")
    ] = "noisy-denominators",
    weights: Annotated[
        str, typer.Option(help="Of the true positive and the true negative rate.")
    ] = "1,1",
    front: Annotated[int, typer.Option(help="Trees to release.")] = 3,
    population: Annotated[int, typer.Option(help="Trees of a generation.")] = 100,
    generations: Annotated[int, typer.Option(help="Selections in all.")] = 4,
    max_depth: MaxDepth = 5,
    user: options.User = None,
    max_per_user: options.MaxPerUser = None,
    neighbours: Relation = "add-remove",
    strict: Strict = False,
    test: Test = None,
    test_is_public: TestIsPublic = False,
    save: Save = None,
    plot: options.Plot = None,
    where: engines.Where = None,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Evolve a front of trees."""
    data = engines.rows_of(data, separator, where, neighbours)
    from dpselect.trees import MultiObjectiveTreeClassifier

    declared = _declared(domains, label)
    classifier = MultiObjectiveTreeClassifier(
        epsilon,
        selection=selection,  # type: ignore[arg-type]
        sensitivity=sensitivity,  # type: ignore[arg-type]
        weights=tuple(options.numbers("--weights", weights)),  # type: ignore[arg-type]
        front=front,
        population=population,
        survivors=min(3, population),
        generations=generations,
        initial_depth=min(3, max_depth),
        max_depth=max_depth,
        budget=options.open_ledger(ledger, source=data, note=note, analyst=analyst),
        **_common(declared, user, max_per_user, neighbours, strict),
    )
    held = data, engine, master
    _train(classifier, declared, held, test, (test_is_public, dry_run, as_json), save, plot)


def domains(
    data: Annotated[Path, typer.Argument(help="A .parquet or .csv file.")],
    label: Label,
    data_is_public: options.DataIsPublic = False,
) -> None:
    """Write a template of a domains file."""
    from dpselect.trees import domains_of_public_data, domains_template

    make = domains_of_public_data if data_is_public else domains_template
    print(json.dumps(make(data, label), indent=2))  # noqa: T201 -- rich would fold it


def _declared(path: Path, label: str) -> Declaration:
    from dpselect.trees import Declaration

    declared = Declaration.from_file(path)
    if declared.label != label:
        raise ColumnError(f"--label is {label!r} and {path} declares {declared.label!r}")
    return declared


def _common(
    declared: Declaration,
    user: str | None,
    max_per_user: int | None,
    neighbours: str,
    strict: bool,
) -> dict[str, Any]:
    return {
        "domains": declared.columns,
        "classes": declared.classes,
        "max_records": declared.max_records,
        "user": user,
        "max_per_user": max_per_user,
        "neighbours": str(options.relation("--neighbours", neighbours)),
        "on_invalid": "raise" if strict else "repair",
    }


def _train(
    classifier: Any,  # noqa: ANN401 -- either classifier
    declared: Declaration,
    held: tuple[str, str, str | None],
    test: Path | None,
    flags: tuple[bool, bool, bool],
    save: Path | None,
    plot: Path | None,
) -> None:
    from dpselect.tables.users import user_cap

    test_is_public, dry_run, as_json = flags
    engines.checked(*held[1:])
    if test is not None and not test_is_public:
        raise ParameterError(
            "--test prints an exact accuracy, which no epsilon protects: use public records "
            "and say --test-is-public"
        )
    if dry_run:
        users = user_cap(classifier.user, classifier.max_per_user)
        _check_columns(declared, users, *held)
        plan = classifier.plan()
        output.print_plan(
            plan, classifier.budget, source=held[0], as_json=as_json, engine=held[1]
        )
        return
    tested = None if test is None else declared.read(test)
    _check_folders(save, plot)
    x, y = _records(declared, classifier.user, *held)
    with waiting.working("growing"):
        classifier.fit(x, y)
    shown = {**output.rows(held[0]), **_released(classifier)}
    if tested is not None:
        shown["test_accuracy"] = float(
            (classifier.predict(tested[0]) == _array(tested[1])).mean()
        )
    if save is not None:
        save.write_text(json.dumps(shown, default=str), encoding="utf-8")
    if plot is not None:
        output.save(classifier.plot(), plot)
    if as_json:
        output.print_json(shown)
    else:
        _print(classifier, shown)


def _check_columns(
    declared: Declaration, users: UserCap | None, data: str, engine: str, master: str | None
) -> None:
    """Check the columns and their types as a release does; no row is read."""
    from dpselect import tables
    from dpselect.trees.engine import EngineCounts
    from dpselect.trees.records import schema

    table = _opened(declared, data, engine, master)
    columns = [*declared.columns, declared.label, *([] if users is None else [users.column])]
    tables.check_columns(table, plain=columns)
    if not tables.is_csv(table):
        public = schema(declared.columns, declared.classes, list(declared.columns))
        EngineCounts(table, declared.label, public, users)


def _records(
    declared: Declaration, user: str | None, data: str, engine: str, master: str | None
) -> tuple[Any, Any]:
    """Return the records and their labels, or the table and its column of labels."""
    if engine == "memory":
        return declared.read(data, user=user)
    return _opened(declared, data, engine, master), declared.label


def _opened(declared: Declaration, data: str, engine: str, master: str | None) -> object:
    from dpselect.trees import Bins

    numeric = [name for name, kind in declared.columns.items() if isinstance(kind, Bins)]
    return engines.opened(data, engine, master, numeric=numeric)


def _released(classifier: Any) -> dict[str, Any]:  # noqa: ANN401 -- either classifier
    shown: dict[str, Any] = {"plan": classifier.plan_.to_dict()}
    if hasattr(classifier, "front_"):
        shown["best"] = classifier.best_
        shown["front"] = [
            {
                "true_positive_rate": one.true_positive_rate,
                "true_negative_rate": one.true_negative_rate,
                "tree": one.tree.to_dict(),
            }
            for one in classifier.front_
        ]
    else:
        shown["tree"] = classifier.tree_.to_dict()
    return {**shown, **output.recorded(classifier.budget, classifier.entry_)}


def _print(classifier: Any, shown: dict[str, Any]) -> None:  # noqa: ANN401
    out = output.console()
    for k, one in enumerate(shown.get("front", ())):
        mark = "  (shown below)" if k == shown["best"] else ""
        out.print(
            f"tree {k}: true positive rate {one['true_positive_rate']:.3f}, true negative "
            f"rate {one['true_negative_rate']:.3f} (noisy){mark}"
        )
    out.print(str(classifier))
    out.print(f"\n{classifier.plan_}")
    if "where" in shown:
        out.print(f"rows where: {', '.join(shown['where'])}")
    if "test_accuracy" in shown:
        out.print(f"test accuracy: {shown['test_accuracy']:.4g}")
    for name, text in output.in_words(shown).items():
        out.print(f"{name}: {text}")


def _check_folders(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise DataError(f"there is no folder {path.parent} to write {path.name} into")


def _array(labels: Any) -> Any:  # noqa: ANN401 -- a narwhals series
    import numpy as np

    return np.array(labels.to_list(), dtype=object)
