"""Commands made of queries: their options are the query's fields.

The name of an option is that of the field, its type and default are the field's, and its help
is the first sentence of the field's documentation. So the words of the library and of the
command line are the same. A command adds how texts become values where a type does not say it,
and what is shown beside an answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_type_hints

import typer

from dpselect.cli import guide, help as said, options, output
from dpselect.errors import ParameterError
from dpselect.passes import noting
from dpselect.writing import documented, members, words as words_of

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.query import Query
    from dpselect.release import Release
    from dpselect.tables import Source

NEEDED, DATA, QUESTION, PRIVACY = "Needed", "Data", "Question", "Privacy"
OUTPUT, ENGINE, EXPERT = "Output", "Engine", "Expert"

PANELS = {
    **dict.fromkeys(("column", "label", "x", "y", "crs", "source", "target", "by"), DATA),
    **dict.fromkeys(("groups", "minus", "positive", "period"), DATA),
    **dict.fromkeys(("epsilon", "delta", "neighbours", "user", "max_per_user"), PRIVACY),
    **dict.fromkeys(("assumed_people", "assumed_records", "max_records"), PRIVACY),
    **dict.fromkeys(("mechanism", "method", "rate_bound", "accountant", "scaling"), EXPERT),
    **dict.fromkeys(("out", "save", "test", "test_is_public"), OUTPUT),
    "on_invalid": EXPERT,
}
"""The part of the help that a field stands in, if not the question."""

PROTECTED = (
    "add-remove hides whether any one is in the data; substitute hides its values, and the "
    "number is public."
)
"""What the help says of the two relations of tables."""

AFTER = (
    *("master", "ledger", "note", "analyst", "source_version", "again"),
    *("dry_run", "as_json"),
)
"""Shared options that every command has, after those of its question."""


class Given(NamedTuple):
    """Arguments of a command."""

    source: str | Source
    table: object
    """As the engine holds it."""

    options: Mapping[str, Any]
    """By field, or by the name of another option; None if not given."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a field whose type does not say how it is written.

    Attributes:
        read: Returns the value of the field from the text and the other options.
        kind: What is typed: a type that typer knows.
        default: What is used where the option is not given; None is left to the query.
    """

    read: Callable[[Any, Given], Any] = lambda value, _given: value
    kind: Any = str
    default: Any = None


class QueryCommand:
    """A command that plans and releases a query of one table; its docstring is its help.

    ``Args`` of the docstring describe what is no field, and fields that are typed otherwise.

    Attributes:
        name: The name of the command.
        query: The title of its queries, such as ``TopKeys``.
        options: By field, where its type does not say how it is written.
        more: What is typed for options that are not fields, by name.
        left_out: Fields that have no option, and ``where`` if a row that is replaced matters.
        needed: Fields that a question of a file hardly does without, though they have defaults;
            and options that are not fields which it must have.
        numeric: Whether its column holds numbers.
        draws: Whether its releases can be drawn as a picture.
        leaving: What leaves an engine, as the help of ``--engine`` says it.
    """

    name: ClassVar[str]
    query: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = {}
    more: ClassVar[Mapping[str, Any]] = {}
    left_out: ClassVar[Sequence[str]] = ()
    needed: ClassVar[Sequence[str]] = ("column",)
    numeric: ClassVar[bool] = False
    draws: ClassVar[bool] = False
    leaving: ClassVar[str] = "Only counts"

    def kind(self) -> type[Query[Any]]:
        """Return the class of its queries."""
        from dpselect.query import kind_of

        return kind_of(self.query)

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return fields that a file states, by what was given."""
        return {}

    def asked(self, given: Given) -> Mapping[str, object]:
        """Return what is asked beside the fields of the query, by name."""
        return {}

    def facts(self, query: Any, given: Given) -> Mapping[str, object]:
        """Return what a dry run shows beside the plan, by name."""
        found: Mapping[str, object] = query.predicted()
        return found

    def check(self, query: Any, given: Given) -> None:
        """Check what else was given, before anything is spent."""

    def release(self, query: Any, given: Given, budget: Budget | None) -> Release[Any]:
        """Make the release, charged to a budget, if there is one."""
        found: Release[Any] = query.release(given.table, budget=budget)
        return found

    def after(self, release: Any, given: Given) -> Mapping[str, object]:
        """Write files, and return what is shown beside the answer, by name."""
        return {}

    def register(self, app: typer.Typer) -> None:
        """Add the command."""
        said.add(app, self.name, self.run, [*self._parameters()], type(self).__doc__)

    def _parameters(self) -> Iterator[inspect.Parameter]:
        kind = self.kind()
        types, own = get_type_hints(kind), documented(type(self), title="Args")
        ours = {one: said.WORDS[one] for one in ("epsilon", "by", "groups")}
        words = documented(kind, said.flag) | ours | own
        yield said.argument("data", str, said.WORDS["data"])
        for one in fields(kind):  # type: ignore[arg-type] # queries are dataclasses
            if one.name in self.left_out:
                continue
            stated, shown = self.options.get(one.name), words[one.name]
            typed = _typed(types[one.name]) if stated is None else stated.kind
            if one.name not in own:
                shown += _choices(one.name, types[one.name], shown)
            panel = NEEDED if one.default is MISSING else self._panel(one.name)
            yield said.parameter(one.name, typed, shown, panel, usual=one.default)
        for name, typed in self.more.items():
            yield (
                said.parameter(name, typed, words[name], self._panel(name))
                if name in own
                else said.shared(name)
            )
        if "where" not in self.left_out:
            yield said.shared("where")
        yield from said.dialect()
        leaving = said.WORDS["engine"].format(leaving=self.leaving)
        yield said.parameter("engine", str, leaving, ENGINE, usual="memory")
        yield from map(said.shared, AFTER)
        yield from map(said.shared, ("out",) * self._has_out + ("plot",) * self.draws)

    def _panel(self, name: str) -> str:
        """Return the panel of an option: those that should be given come first."""
        usual = EXPERT if name.endswith("_share") else QUESTION
        return NEEDED if name in self.needed else PANELS.get(name, usual)

    @property
    def _has_out(self) -> bool:
        """Whether ``--out`` writes the table of the answer."""
        return not {"out", "save"} & set(self.more)

    def run(self, **typed: Any) -> None:
        """Run the command."""
        query, given = self._made(typed)
        shared, source, asked = given.options, given.source, self.asked(given)
        budget = options.open_ledger(shared, source, asked)
        query.check_where(options.stated(source))
        output.check_outputs(shared, source)
        if self.draws and shared["plot"] is not None and shared["dry_run"]:
            raise ParameterError("`plot` shows what is released, which `dry_run` does not draw")
        self.check(query, given)
        if out := self._has_out and shared["out"]:
            from dpselect.requests import answers

            answers.check_suffix(out)
        printing: dict[str, Any] = {"source": source, "as_json": shared["as_json"]}
        if shared["dry_run"]:
            with noting() as read:
                query.check(given.table)
            more = {**asked, **self.facts(query, given)}
            engine = shared["engine"] or "memory"
            output.print_plan(
                query.plan, budget, more=more, read="; ".join(read), engine=engine, **printing
            )
            return
        with options.working("counting and choosing"):
            release = self.release(query, given, budget)
            more = {**self.after(release, given)}
            if out:
                with output.writing(out, "a table such as table.csv"):
                    answers.write(release, out)
                more["written to"] = out
        output.print_release(release, budget, more=more, asked=asked, **printing)
        if self.draws and shared["plot"] is not None:
            output.save(release.plot(), shared["plot"])  # type: ignore[attr-defined] # drawn

    def _made(self, given: dict[str, Any]) -> tuple[Query[Any], Given]:
        """Return the query, and the table without a row being read."""
        source, kind = options.rows_of(given["data"], given), self.kind()
        every = [one for one in fields(kind) if one.name not in self.left_out]  # type: ignore[arg-type]
        needed = [one.name for one in every if one.default is MISSING or one.name == "column"]
        needed += [name for name in self.more if name in self.needed]
        missing = [name for name in needed if given[name] in (None, [])]
        table = options.opened(source, given["engine"], given["master"])
        if missing:
            raise self._incomplete(missing, source, table, given)
        declared = self.declared(Given(source, table, given))
        held, types = Given(source, table, {**given, **declared}), get_type_hints(kind)
        typed = [one.name for one in every if one.name not in declared]
        stated = {name: self._read(name, types[name], held) for name in typed}
        stated |= {name: one for name, one in declared.items() if name in types}
        stated = {name: value for name, value in stated.items() if value is not None}
        return kind(**stated), held

    def _incomplete(
        self,
        missing: Sequence[str],
        source: str | Source,
        table: object,
        given: Mapping[str, Any],
    ) -> ParameterError:
        """Return the error of a question that is not whole, with the next line to type."""
        *most, last = (f"`{name}`" for name in missing)
        error = ParameterError(f"give {' and '.join(filter(None, (', '.join(most), last)))}")
        names = [*self.more, *(one.name for one in fields(self.kind()))]  # type: ignore[arg-type]
        known = guide.typed({name: given.get(name) for name in names})
        text = inspect.getdoc(self) or ""
        for note in guide.notes(text, source, table, known, numeric=self.numeric):
            error.add_note(note)
        return error

    def _read(self, name: str, kind: Any, given: Given) -> Any:
        value, option = given.options[name], self.options.get(name)
        if isinstance(value, list):
            value = None if not value else value[0] if len(value) == 1 else tuple(value)
        if option is None:
            return _value(name, kind, value)
        return option.default if value is None else option.read(value, given)


def _typed(annotation: Any) -> Any:
    """Return what is typed for a field: a type that typer knows."""
    found = [*members(annotation)]
    if timedelta in found:
        return str
    if Sequence in found and {int, float, str, Hashable, Literal} & {*found}:
        return list[str]
    return next((one for one in found if one in {bool, int, float, Path}), str)


def _value(name: str, annotation: Any, given: Any) -> Any:
    """Return the value of a field that is typed: numbers and names of a list by commas."""
    found = [*members(annotation)]
    text = ",".join(given) if isinstance(given, tuple) else given
    if not isinstance(text, str):
        return given
    if timedelta in found:
        from dpselect.percentiles.candidates import quantity
        from dpselect.tables.lists import is_file, lines_of

        if Sequence in found:
            listed = lines_of(text) if is_file(text) else text.split(",")
            return [quantity(name, one) for one in listed]
        return quantity(name, text)
    if Sequence not in found or not {int, float, Literal} & {*found}:
        return given
    if Literal in found:
        read: list[Any] = [one.strip() for one in text.split(",")]
    else:
        read = options.numbers(name, text, int if int in found else float)
    return read[0] if found[0] is not Sequence and len(read) == 1 else read


def _choices(name: str, annotation: Any, words: str) -> str:
    """Return the words that a field takes, unless its help has named them; else nothing."""
    if name == "neighbours":  # its sentence names those that the query has
        return f" {PROTECTED}"
    names = words_of(annotation)
    if name == "mechanism":
        from dpselect.mechanisms import MECHANISMS

        names = list(MECHANISMS)
    unsaid = any(one not in words for one in names)
    return f" One of {', '.join(names)}." if unsaid else ""
