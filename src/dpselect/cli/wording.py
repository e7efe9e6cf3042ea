"""Errors of the library in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

OTHER_WORDS = {"on_invalid": "--strict"}
"""Arguments of functions whose option has another name."""

_VERBS = r"(?= must | and | or | is | goes | go | needs | has )"
_LISTED = re.compile(r"must be one of (?P<names>[^;:]*), not '(?P<given>[^']*)'")
_EXTRA = re.compile(r"Got unexpected extra argument\S* \((?P<given>.*)\)")
_POSSIBLE = re.compile(r"No such option: (?P<given>\S+) \(Possible options: (?P<names>.*)\)")


def options_of(command: Any, arguments: Iterable[str]) -> dict[str, str]:  # noqa: ANN401
    """Return the options of the command that some arguments call, by the name in Python."""
    for word in arguments:
        below = getattr(command, "commands", {})
        command = below.get(word, command)
    if default := getattr(command, "default_command", None):
        command = command.commands[default]
    flags = (
        flag for parameter in command.params for flag in parameter.opts if flag.startswith("--")
    )
    return OTHER_WORDS | {flag[2:].replace("-", "_"): flag for flag in flags}


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Return a message with options in place of the arguments of functions.

    A name is replaced where it is the subject of the sentence, where a value is given to it,
    or where its underscore says that it is no other word.
    """
    for name, flag in options.items():
        message = re.sub(rf"^{name}{_VERBS}", flag, message)
        message = re.sub(rf"(?<![\w-]){name}=(?=\S)", f"{flag} ", message)
        if "_" in name:
            message = re.sub(rf"(?<![\w-]){name}(?!\w)( =)?", flag, message)
    return message


def with_suggestion(message: str) -> str:
    """Return a message that lists names, with the one that was probably meant."""
    unknown = _POSSIBLE.search(message)
    if unknown:
        near = get_close_matches(unknown["given"], unknown["names"].split(", "), n=1)
        return f"no such option: {unknown['given']}" + _meant(near)
    if extra := _EXTRA.search(message):
        return (
            f"nothing takes the words {extra['given']}: join the values of an option by "
            "commas, and quote what has spaces"
        )
    listed = _LISTED.search(message)
    if listed:
        near = get_close_matches(listed["given"], listed["names"].split(", "), n=1)
        return message + _meant(near)
    return message


def _meant(near: list[str]) -> str:
    return f"; did you mean {near[0]}?" if near else ""
