"""TOML documents: their tables, the queries that they ask, and the lines that errors name."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeAlias, get_args, get_type_hints

from dpselect import validation
from dpselect._optional import stated
from dpselect.errors import DPSelectError, ParameterError, nearest, possible
from dpselect.percentiles.candidates import ENDS
from dpselect.query import GROUP, Claim, Query, claims_of, kind_of
from dpselect.tables import Source
from dpselect.tables.dialect import DEFAULTS
from dpselect.tables.lists import text_of
from dpselect.tables.opening import ENGINES
from dpselect.writing import members

Keys: TypeAlias = tuple[str | int, ...]
"""Where a value is: names of tables and keys, and positions in lists of tables."""

_KINDS = {tuple: list[str], bool: bool, int: int, dict: Mapping}

OF_DATA: dict[str, Any] = {
    **dict.fromkeys(("path", "version", "engine", "master"), str),
    "where": list[str],
    **{name: _KINDS.get(type(usual), str) for name, usual in DEFAULTS.items()},
    "header": object,
}
"""What the keys of [data] hold."""

OF_UNIT = {"neighbours": str, "user": str, "max_per_user": int}
"""What the keys of [unit] hold."""

LIST_OF_TABLES: Any = list[Mapping]  # type: ignore[type-arg] # of any keys

OF_REQUESTS: dict[str, dict[str, Any]] = {
    "": {
        **dict.fromkeys(("policy", "ledger", "note", "analyst"), str),
        **dict.fromkeys(("data", "unit"), Mapping),
        "queries": LIST_OF_TABLES,
    },
    "data": OF_DATA,
    "unit": OF_UNIT,
}
"""The keys of each table of a request; those of a query are its fields."""

OF_POLICIES: dict[str, dict[str, Any]] = {
    "": {
        "ledger": str,
        **dict.fromkeys(("data", "unit", "release", "person", "columns", "claims"), Mapping),
    },
    "data": OF_DATA,
    "unit": OF_UNIT,
    "release": {"queries": list[str], "epsilon": float, "delta": float, "most_values": int},
    "person": {
        **dict.fromkeys(("epsilon", "delta"), float),
        **dict.fromkeys(("composition", "period", "period_unit"), str),
        "shares": Mapping,
    },
    "person.shares": {"*": float},
    "columns": {"*": Mapping},
    "columns.*": dict.fromkeys((*ENDS, "candidates"), object),
}
"""The keys of each table of a policy; those of [claims] are fields of queries."""

OURS = (
    *("ID3Tree", "Keys", "Map", "PercentileRecord", "Percentiles"),
    *("Subset", "TopKeys", "TopNodes", "TreeFront"),
)
"""Titles of the queries of the core that a file may ask."""

WORDS: dict[Any, str] = {
    str: "a text",
    int: "an integer",
    float: "a number",
    bool: "a truth value",
    Mapping: "a table: write [{}] above its keys",
    list[str]: "a list of texts",
    LIST_OF_TABLES: "a list of tables: write [[{}]] above the keys of each",
}
"""What a value must be, in words."""

READING = tuple(DEFAULTS)
"""Keys of [data] that say how a text file is written."""

CURES = {
    "Invalid value": ": a text needs quotes, and a number a digit before its point",
    "Cannot overwrite a value": ": this key is given twice",
}
"""What is meant by errors of TOML."""


@dataclass(frozen=True)
class Document:
    """Tables of TOML, from a text or from a program.

    Attributes:
        values: The tables.
        text: What they were read from; empty if they were not.
        path: The file, by which errors name it; None if there is none.
    """

    values: Mapping[str, Any]
    text: str = ""
    path: Path | None = None

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return what a file holds.

        Raises:
            DataError: There is no such file, or it is not text.
            ParameterError: It is not TOML; the message has the line.
        """
        file = Path(path)
        text = text_of(file, "a text file in TOML")
        try:
            return cls(tomllib.loads(text), text=text, path=file)
        except RecursionError:
            raise ParameterError(f"{file}: its values are nested too deeply") from None
        except tomllib.TOMLDecodeError as error:
            what, _, place = str(error).rpartition(" (at ")
            [line, *_] = re.findall("[0-9]+", place) or [text.count("\n") + 1]
            raise ParameterError(f"{file}:{line}: {what}{CURES.get(what, '')}") from None

    @property
    def name(self) -> str | None:
        """The name of the file, if there is one."""
        return None if self.path is None else self.path.name

    def located(self, path: str, engine: str = "memory") -> str:
        """Return a path in the document as seen from here; of a table of Spark its name."""
        there = (Path() if self.path is None else self.path.parent) / path
        return path if _is_no_file(path, there, engine) else str(there)

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table by its name, empty if it is left out."""
        return dict(self.values.get(name, {}))

    def read_as(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a request or a policy that its tables state alike."""
        data = values.get("data", {})
        if "path" not in data:
            raise ParameterError("[data] needs the `path` of the table")
        engine = validation.one_of("engine", data.get("engine", "memory"), ENGINES)
        path = self.located(data["path"], engine)
        stated = {name: data[name] for name in ("where", *READING) if name in data}
        given = {name: data[name] for name in ("engine", "master", "version") if name in data}
        given |= {name: values[name] for name in ("note", "analyst") if name in values}
        if "ledger" in values:
            given["ledger"] = Path(self.located(values["ledger"]))
        return {"source": Source(path, **stated), "document": self, **given}

    @contextmanager
    def naming(self, *keys: str | int) -> Iterator[None]:
        """Put the file before the message of an error of the block.

        Args:
            keys: Where it is about; the line of its key follows the file, or of its table.
        """
        try:
            yield
        except DPSelectError as error:
            if self.path is None or str(error).startswith(f"{self.path}:"):
                raise
            line = self._line(keys, error.arguments)
            raise type(error)(f"{self.path}:{line} {error}") from None

    def _line(self, keys: Keys, names: Sequence[str]) -> str:
        """Return the line of a key of some names in a table, or that begins it; empty of none.

        Where there is no such table, the nearest one around it counts.
        """
        lines = [one.partition("#")[0].strip() for one in self.text.splitlines()]
        begin, wanted = 0, {*names}
        while keys and not begin:
            name = ".".join(one for one in keys if isinstance(one, str))
            heads = [at for at, one in enumerate(lines, 1) if one.strip("[]") == name != one]
            number = keys[-1] if isinstance(keys[-1], int) else 0
            begin = heads[number] if number < len(heads) else 0
            wanted.add(str(keys[-1]))
            keys = keys[:-1]
        for at, one in enumerate(lines[begin:], begin + 1):
            if one.startswith("["):
                break
            if "=" in one and one.partition("=")[0].strip(" \"'") in wanted:
                return f"{at}:"
        return f"{begin}:" if begin else ""


@dataclass(frozen=True, kw_only=True)
class Form:
    """What requests and policies state alike."""

    source: Source
    engine: str = "memory"
    master: str | None = None
    version: str = ""
    ledger: Path | None = None
    document: Document = field(default_factory=lambda: Document({}), repr=False, compare=False)


def tables_of(form: str) -> Mapping[str, Mapping[str, Any]]:
    """Return what the tables of a request or a policy hold, by their names."""
    if form == "a request":
        return OF_REQUESTS
    return {**OF_POLICIES, "claims": {name: kind for name, (kind, _) in claims_known().items()}}


def check_keys(document: Document, form: str) -> None:
    """Raise unless tables hold known keys alone, and each what it can hold.

    Args:
        document: What holds them.
        form: What it should be, ``"a request"`` or ``"a policy"``.

    Raises:
        ParameterError: A key is unknown, or a value is of a wrong type.
    """
    for table, known in tables_of(form).items():
        for parts, values in _named(document.values, table.split(".") if table else []):
            where = f"[{'.'.join(parts)}]" if parts else "the file"
            for key, value in values.items():
                with document.naming(*parts, key):
                    kind = known.get(key) or known.get("*")
                    if kind is None:
                        meant = place_of(key, form) or nearest(key, known)
                        meant = meant or f"; it has {', '.join(known)}"
                        raise ParameterError(f"{where} has no key {key!r}{meant}")
                    if not _is(value, kind):
                        must = WORDS[kind].format(".".join((*parts, key)))
                        raise ParameterError(f"`{key}` of {where} must be {must}")


def _named(values: Mapping[str, Any], parts: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Yield the tables of a name, each below those that its parts name, as far as there are."""
    if not parts:
        yield (), values
        return
    for name in values if parts[0] == "*" else {parts[0]} & values.keys():
        for below, table in _named(values[name], parts[1:]):
            yield (name, *below), table


def place_of(key: str, form: str, *, in_query: bool = False) -> str:
    """Return the end of a message that says where a key belongs, if there is a place for it."""
    other = "a policy" if form == "a request" else "a request"
    places: dict[str, Iterable[str]] = {
        f"[{name.replace('*', 'NAME')}]" if name else "the lines above [data]": keys
        for name, keys in tables_of(form).items()
    }
    places[other] = tables_of(other)[""].keys() - tables_of(form)[""].keys()
    if form == "a request" and not in_query:
        places["[[queries]]"] = {
            name for title in titles() for name in fields_of(query_of(title))
        }
    found = [place for place, keys in places.items() if key in keys]
    return f"; it belongs in {' or '.join(found)}" if found else ""


def titles() -> list[str]:
    """Return the titles of the queries that a file may ask, of all packages."""
    return sorted({*OURS, *stated(GROUP)})


def query_of(title: object) -> type[Query[Any]]:
    """Return the class of a query that a file may ask.

    Raises:
        ParameterError: There is none of that title.
    """
    if title in titles():
        return kind_of(title)
    meant = nearest(str(title), titles()) or f": one of {', '.join(titles())}"
    if not title:
        raise ParameterError(f"a query needs its `query`{meant}")
    raise ParameterError(f"there is no `query` {title!r} of a table{meant}")


def fields_of(kind: type[Query[Any]]) -> list[str]:
    """Return the fields of a class of queries by name."""
    return [one.name for one in fields(kind)]  # type: ignore[arg-type] # a dataclass


@cache
def claims_known() -> Mapping[str, tuple[Any, Claim]]:
    """Return what [claims] can state, by the fields of all queries: its type, and the claim."""
    return {
        name: (next((one for one in (str, int) if one in members(types[name])), object), claim)
        for kind in map(query_of, titles())
        for types in [get_type_hints(kind)]
        for name, claim in claims_of(kind).items()
    }


def _is(value: object, kind: Any) -> bool:  # noqa: ANN401 -- a type
    """Return whether a value is of a type; integers are numbers, and truth values none."""
    if inside := get_args(kind):
        return isinstance(value, list | tuple) and all(_is(one, *inside) for one in value)
    if isinstance(value, bool):
        return kind in {bool, object}
    return isinstance(value, (int, float) if kind is float else kind)


def anywhere(path: str, engine: str = "memory") -> str:
    """Return a path as it is seen from any folder."""
    return path if _is_no_file(path, Path(path), engine) else str(possible(path).resolve())


def _is_no_file(path: str, there: Path, engine: str) -> bool:
    return "://" in path or (engine == "spark" and not there.exists())
