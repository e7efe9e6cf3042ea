"""Every command of the tutorial runs on the file that the tutorial makes."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from dpselect.cli import main

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
MAKING = PAGE[PAGE.index("## A file") : PAGE.index("## What is public")]
CONSOLE = "".join(re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", "")
COMMANDS = [line.removeprefix("$ ") for line in CONSOLE.splitlines()]


def test_every_command_of_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    names = {}
    for example in doctest.DocTestParser().get_examples(MAKING):
        exec(example.source, names)  # noqa: S102 -- our own page

    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        said = " ".join(capsys.readouterr().out.split())
        assert (program, stop.value.code) == ("dpselect", 0), command
        if "--dry-run" in arguments:
            shown = PAGE[PAGE.index("would spend ") : PAGE.index("```\n\nThe same without")]
            assert said == " ".join(shown.split())

    assert len(COMMANDS) == 6
    assert "clinic" in (tmp_path / "report.html").read_text(encoding="utf-8")
