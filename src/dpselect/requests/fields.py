"""Fields of queries for people who write them: what they hold, in words and as JSON schema."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import date, timedelta
from types import NoneType
from typing import Any, Literal, get_type_hints

from dpselect.mechanisms import MECHANISMS
from dpselect.neighbours import Neighbours
from dpselect.query import Query
from dpselect.requests.document import OF_REQUESTS as TABLES, READING, query_of, titles
from dpselect.requests.policy import Policy
from dpselect.writing import documented, members, words

Schema = dict[str, Any]

FILLED = ("neighbours", "bounds")
"""Fields without a default that a unit or a policy can fill in."""

TYPES: dict[Any, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer",),
    float: ("number",),
    Sequence: ("array", "object"),  # a range is an object
    Mapping: ("object",),
    **dict.fromkeys((str, date, timedelta, Literal), ("string",)),
}

BY_NAME: dict[str, Schema] = {
    "neighbours": {"enum": [one.value for one in Neighbours]},
    "mechanism": {
        "anyOf": [{"enum": list(MECHANISMS)}, {"type": "object", "required": ["name"]}]
    },
}
"""Fields whose texts are names."""


def schema(policy: Policy | None = None) -> Schema:
    """Return the JSON schema (draft 7) of the files that ``Request`` reads.

    Args:
        policy: A policy that limits them: other queries than it allows, and what it states or
            lets nobody state, such as claims of the data, are left out.

    Examples:
        >>> from dpselect.requests import schema
        >>> sorted(schema()["properties"]["unit"]["properties"])
        ['max_per_user', 'neighbours', 'user']
    """
    names = titles() if policy is None else policy.queries
    kinds = [_of_query(query_of(name), policy) for name in sorted(names)]
    tables = {name: _table(name) for name in TABLES}
    whole = tables.pop("")
    if policy is not None:
        for key in READING:
            tables["data"]["properties"].pop(key, None)
    listed = {"type": "array", "items": {"oneOf": kinds}, "minItems": 1}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A request of dpselect",
        **whole,
        "properties": {**whole["properties"], **tables, "queries": listed},
        "required": ["queries"],
    }


def _table(name: str) -> Schema:
    return _object({key: BY_NAME.get(key, _of_type(of)) for key, of in TABLES[name].items()})


def _object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _of_query(kind: type[Query[Any]], policy: Policy | None) -> Schema:
    types, said = get_type_hints(kind), documented(kind)
    stated = {} if policy is None else policy.stated(kind)
    properties: dict[str, Schema] = {
        "query": {"const": kind.__name__},
        "name": {"type": "string", "description": "The name of the answer."},
    }
    required = ["query"]
    for one in fields(kind):  # type: ignore[arg-type] # queries are dataclasses
        if one.name in stated:
            continue
        found = BY_NAME.get(one.name) or _of_type(types[one.name])
        properties[one.name] = {**found, "description": said[one.name]}
        if one.default is MISSING and policy is None and one.name not in FILLED:
            required.append(one.name)
        elif isinstance(one.default, bool | int | float | str):
            properties[one.name]["default"] = one.default
    return {"title": kind.__name__, **_object(properties), "required": required}


def _of_type(annotation: Any) -> Schema:  # noqa: ANN401 -- a type
    found = [*members(annotation)]
    if not {*found} - {Literal, NoneType}:
        return {"enum": words(annotation)}
    alone = found[: found.index(Sequence) + 1] if Sequence in found else found
    kinds = {kind for one in alone for kind in TYPES.get(one, ())}
    return {} if {Any, Hashable} & {*alone} or not kinds else {"type": sorted(kinds)}
