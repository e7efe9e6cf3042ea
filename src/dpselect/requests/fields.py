"""Fields of queries for people who write them: their documentation, and a JSON schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, fields
from datetime import date, timedelta
from functools import partial
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dpselect.mechanisms import MECHANISMS
from dpselect.neighbours import Neighbours
from dpselect.query import Query
from dpselect.requests.document import READING, Kind
from dpselect.requests.policy import Policy
from dpselect.requests.reading import READERS
from dpselect.requests.request import TABLES

Schema = dict[str, Any]

FILLED = ("neighbours", "bounds")
"""Fields without a default that a unit or a policy can fill in."""

TYPES: dict[Any, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    date: {"type": "string"},
    timedelta: {"type": "string"},
    Any: {},
    Hashable: {},
}

RANGE: Schema = {
    "type": "object",
    "properties": {"range": {"type": "array", "items": {"type": "integer"}}},
    "required": ["range"],
    "additionalProperties": False,
}
"""Integers from a first one up to one that is not there any more, and their step."""

KINDS: dict[Kind, Schema] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "list of texts": {"type": "array", "items": {"type": "string"}},
}

BY_NAME: dict[str, Schema] = {
    "neighbours": {"enum": [one.value for one in Neighbours]},
    "mechanism": {
        "anyOf": [
            {"enum": list(MECHANISMS)},
            {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"enum": list(MECHANISMS)},
                    **{
                        option: {}
                        for one in MECHANISMS.values()
                        for option in one.query_options
                    },
                },
                "additionalProperties": False,
            },
        ]
    },
}
"""Fields whose texts are names."""

_CODE = re.compile(r"``([^`]*)``")
_ATTRIBUTE = re.compile(r"^ {8}(?P<name>\w+): (?P<text>.*(?:\n {12}.*)*)", re.MULTILINE)


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
    dpselect = import_module("dpselect")
    names = READERS if policy is None else policy.queries
    kinds = [_of_query(getattr(dpselect, name), policy) for name in sorted(names)]
    tables = {name: _table(name) for name in TABLES if name}
    if policy is not None:
        for key in READING:
            tables["data"]["properties"].pop(key, None)
    listed = {"type": "array", "items": {"oneOf": kinds}}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A request of dpselect",
        **_table(""),
        "properties": {
            **_table("")["properties"],
            **tables,
            "queries": {**listed, "minItems": 1},
        },
        "required": ["queries"],
    }


def _table(name: str) -> Schema:
    known = {key: BY_NAME.get(key, KINDS.get(kind)) for key, kind in TABLES[name].items()}
    return {
        "type": "object",
        "properties": {key: one for key, one in known.items() if one is not None},
        "additionalProperties": False,
    }


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
        properties[one.name] = {**(found or {}), "description": said[one.name]}
        if one.default is MISSING and policy is None and one.name not in FILLED:
            required.append(one.name)
        elif isinstance(one.default, bool | int | float | str):
            properties[one.name]["default"] = one.default
    return {
        "title": kind.__name__,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _of_type(annotation: Any) -> Schema | None:  # noqa: ANN401 -- a type
    """Return the schema of a field's type; None of what cannot be written down."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, UnionType}:
        return _of_union(arguments)
    if origin is Literal:
        return {"enum": list(arguments)}
    if annotation in TYPES:
        return TYPES[annotation]
    kind = origin or annotation
    if not isinstance(kind, type) or not issubclass(kind, Iterable):
        return None
    if issubclass(kind, Mapping):
        return {"type": "object"}
    items = _of_type(arguments[0]) if len(arguments) == 1 else None
    listed = {"type": "array", **({"items": items} if items else {})}
    return {"anyOf": [listed, RANGE]} if kind is Iterable else listed


def _of_union(members: tuple[Any, ...]) -> Schema | None:
    if any("_SupportsArray" in str(one) for one in members):  # an ArrayLike
        return {"anyOf": [{"type": "array"}, RANGE]}
    found = [_of_type(one) for one in members if one is not NoneType]
    known = [one for one in found if one is not None]
    if {} in known:
        return {}
    return known[0] if len(known) == 1 else {"anyOf": known} if known else None


def documented(kind: type, word: Callable[[str], str] = str) -> dict[str, str]:
    """Return the first sentence about each attribute of a class, by name, as plain text.

    Args:
        kind: The class.
        word: What stands for the name of another attribute.
    """
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        text = (one.__dict__.get("__doc__") or "").partition("Attributes:")[2]
        for attribute in _ATTRIBUTE.finditer(text.partition("\n\n    ")[0] + "\n"):
            words = " ".join(attribute["text"].split())
            found[attribute["name"]] = re.split(r"(?<=[.]) (?=[A-Z`])", words, maxsplit=1)[0]
    return {
        name: _CODE.sub(partial(_in_words, found, word), text) for name, text in found.items()
    }


def _in_words(names: Mapping[str, str], word: Callable[[str], str], code: re.Match[str]) -> str:
    """Return what stands for code of a docstring."""
    return word(code[1]) if code[1] in names else code[1]
