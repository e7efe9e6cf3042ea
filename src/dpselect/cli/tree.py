"""``dpselect tree``, ``trees-front`` and ``domains``: private decision trees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect.cli import options, output
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from dpselect.trees import ID3Tree, TreeFront


class _OfTrees(QueryCommand):
    """A command that trains trees.

    Args:
        domains: The domains file (JSON), which states public claims.
        label: The column of the labels, as the domains file names it.
        save: Write what is released as JSON.
        test: Public records to measure the accuracy on.
        test_is_public: Declare that the test data are public: the accuracy is exact.
    """

    draws, left_out = True, ("classes", "max_records")
    options = {"domains": Option(kind=Path)}
    more = {"save": Path, "test": Path, "test_is_public": bool}

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the fields that the domains file states."""
        from dpselect.trees import read_domains

        path, label = given.options["domains"], given.options["label"]
        stated = read_domains(path)
        if label not in {None, stated["label"]}:
            raise ColumnError(f"`label` is {label!r} and {path} declares {stated['label']!r}")
        return {**stated, "classes": tuple(stated["classes"])}

    def check(self, query: ID3Tree | TreeFront, given: Given) -> None:
        """Check that the test data are public."""
        asked = given.options
        if asked["test"] is None:
            return
        if not asked["test_is_public"]:
            raise ParameterError(
                "`test` prints an exact accuracy, which no epsilon protects: use public "
                "records and say `test_is_public`"
            )
        _test_rows(query).check(asked["test"])

    def after(self, release: Any, given: Given) -> Mapping[str, object]:
        """Return the accuracy on public records, and write the release."""
        facts: dict[str, object] = {}
        if given.options["test"] is not None:
            tested = _test_rows(release.query).coded(given.options["test"])
            answers = release.tree.probabilities(tested.codes).argmax(axis=1)
            facts["test accuracy"] = f"{(answers == tested.labels).mean():.4g}"
        if given.options["save"] is not None:
            given.options["save"].write_text(release.to_json(), encoding="utf-8")
        return facts


def _test_rows(query: Any) -> Any:
    """Return how public records are read: all that there are, by the domains declared."""
    return replace(query.design().rows, users=None, on_invalid="repair")


class Tree(_OfTrees):
    """Train a decision tree privately; print it with its plan.

    With --splits values --criterion information-gain it is DiffPID3 (local dampening):
    --mechanism exponential, local-dampening and shifted are its global, local and shifted
    forms.

    --domains is a file of public claims: the column of the labels, the classes, a domain for
    every column, and a bound on the number of records; 'dpselect domains' writes a template.
    Values outside their domain are repaired. With --user all rows of a person are protected
    together, and at most --max-per-user of each are counted; without it one row is protected.

    $ dpselect tree adult.parquet --domains adult.json --epsilon 1 --neighbours add-remove

    $ dpselect tree visits.parquet --domains visits.json --user patient --max-per-user 3
    --epsilon 1 --neighbours add-remove

    With --engine polars or spark only counts leave the engine.
    """

    name, query = "tree", "ID3Tree"


class Front(_OfTrees):
    """Evolve cost-sensitive trees privately and show how they trade the two rates.

    This is DP-MOET, with PrivPareto or PrivAgg as its selection; the defaults are ours.

    $ dpselect trees-front adult.parquet --domains adult.json --epsilon 1
    --neighbours add-remove --weights 3,2 --plot front.png

    As the paper has it, by the inputs of its Algorithm 1:

    $ dpselect trees-front adult.parquet --domains adult.json --epsilon 1
    --neighbours add-remove --dp-moet p=100,s=20,k=2,d=3,d_max=5,o=1

    These are DP-MOET-Pareto with local sensitivities; --rate-bound global has global ones, and
    --selection weighted-sum is DP-MOET-Agg. --mechanism is what draws the trees.

    Args:
        dp_moet: Inputs of the paper's Algorithm 1, as p=100,s=20,k=2,d=3,d_max=5,o=1: DP-MOET
            as published, but for the fields that are given themselves.
    """

    name, query = "trees-front", "TreeFront"
    more = {**_OfTrees.more, "dp_moet": str}

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the same, and the fields of DP-MOET that were not given themselves."""
        declared, asked = super().declared(given), given.options
        if asked["dp_moet"] is None:
            return declared
        from dpselect.trees import dp_moet

        inputs: dict[str, Any] = {
            name: asked[name] for name in ("selection", "rate_bound") if asked[name]
        }
        try:
            pairs = (one.split("=") for one in asked["dp_moet"].split(","))
            fields = dp_moet(**inputs | {name: int(number) for name, number in pairs})
        except ParameterError:
            raise
        except (TypeError, ValueError):
            raise ParameterError(
                "`dp_moet` must be the inputs of Algorithm 1, as p=100,s=20,k=2,d=3,d_max=5,o=1"
            ) from None
        return {
            **{name: one for name, one in fields.items() if asked[name] is None},
            **declared,
        }

    def after(self, release: Any, given: Given) -> Mapping[str, object]:
        """Return the best tree, too."""
        best = "\n".join(release.tree.summary())
        return {f"tree {release.best}": best, **super().after(release, given)}


def domains(
    data: str,
    *,
    label: str,
    out: Path | None = None,
    **dialect: Any,
) -> None:
    """Write a template of a domains file from column names and types.

    No value is read. Columns of dates and times are left out.

    $ dpselect domains adult.parquet --label income > adult.json

    Args:
        data: The file of the records.
        label: The column of the labels.
        out: The file to write, such as domains.json; by default it is printed.
    """
    from dpselect.trees import domains_template

    source = options.rows_of(data, dialect)
    output.check_outputs({"out": out}, source)
    text = json.dumps(domains_template(source, label), indent=2)
    if out is None:
        print(text)  # noqa: T201 -- rich would fold it
        return
    with output.writing(out, "a file such as domains.json"):
        out.write_text(f"{text}\n", encoding="utf-8")
    output.print_facts({"domains file": out, "next": "fill in what is empty or null"})
