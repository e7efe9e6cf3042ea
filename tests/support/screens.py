"""Screens: commands with all that they print at 80 columns, which a diff shows to be reviewed.

A file of ``tests/screens`` has lines ``$ dpselect ...`` with what each printed below, and its
code in brackets if that is not 0; ``$ cat > NAME`` makes a file of the lines with ``>`` below,
and ``$ cat NAME`` shows one, without the tags of HTML.
``python tests/support/screens.py`` writes all of them anew.
"""

import os
import re
import shlex
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from dpselect.cli import main
from dpselect.draws.exact import samplers
from support.commands import visits, written
from support.hospital import admitted

SCREENS = sorted((Path(__file__).parents[1] / "screens").glob("*.txt"))
FOLDER = "/tmp/screens-12345678"  # noqa: S108 -- as long as every folder of mkdtemp


def printed(words):
    """Run the program on words; return its code and what it printed, on both streams."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            main(words)
        except SystemExit as stop:
            return stop.code or 0, out.getvalue()
    raise AssertionError


def shown(name, lines):
    """Return a screen of commands that are run in a folder of their own.

    Whatever is refused leaves all files as they were, also as a dry run.
    """
    draws = Random(name)  # noqa: S311 -- the same bits again
    ours = {"urandom": draws.randbytes, "system": draws}
    ours |= {"randbits": draws.getrandbits, "randbelow": draws.randrange}
    theirs = {one: getattr(samplers, one) for one in ours}
    width, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "80"
    try:
        for one, own in ours.items():
            setattr(samplers, one, own)
        with tempfile.TemporaryDirectory(prefix="screens-", dir="/tmp") as made, chdir(made):
            folder = Path(made)
            for kind in ("csv", "parquet"):
                written(folder, kind)
            visits().write_parquet(folder / "visits.parquet")
            admitted(folder)
            return "\n".join(_after(line, folder) for line in lines)
    finally:
        for one, own in theirs.items():
            setattr(samplers, one, own)
        os.environ.pop("COLUMNS") if width is None else os.environ.update(COLUMNS=width)


def _after(line, folder):
    command, *below = line.split("\n")
    if command.startswith("cat > "):
        text = "\n".join(one[2:] for one in below if one.startswith(">"))
        (folder / command[6:]).write_text(text + "\n", encoding="utf-8")
        return "\n".join([f"$ {command}", *(one for one in below if one.startswith(">")), ""])
    words = shlex.split(command, comments=True)[1:]
    before = held(folder)
    code, out = printed(words) if command.startswith("dpselect") else (0, text_of(words[0]))
    if code == 2:
        assert held(folder) == before, f"{command} is refused and writes"
        if "--epsilon" in words and words[0] != "budget" and "# released" not in command:
            assert printed([*words, "--dry-run"]) == (code, out), command
    out = re.sub(r"\b[0-9a-f]{64}\b", "0" * 64, out.replace(str(folder), FOLDER))
    out = re.sub(rf"{datetime.now(UTC):%Y-%m-%d}(.)\d\d:\d\d", r"2026-01-31\g<1>12:00", out)
    out = re.sub(r"(2026-01-31T12:00):\d\d", r"\1:00", out)
    out = out.replace(f"{datetime.now(UTC):%Y-%m-%d}", "2026-01-31")
    lines = [one.rstrip() for one in out.splitlines()]
    return "\n".join([f"$ {command}", *lines, *([f"[{code}]"] if code else []), ""])


def text_of(name):
    text = re.sub(r"<style>.*?</style>", "", Path(name).read_text("utf-8"), flags=re.DOTALL)
    if not name.endswith(".html"):
        return text
    rows = re.sub(r"</?(?:p|h\d|dl|dt|tr|section|li|table)\b[^>]*>", "\n", text)
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"<[^>]*>", " ", rows)).strip()


def held(folder):
    files = (one for one in folder.rglob("*") if one.is_file() and one.suffix != ".pyc")
    return {one: one.read_bytes() for one in files}


def again(path):
    """Return the screen of a file as it is today."""
    title, *lines = re.split(r"^\$ ", path.read_text("utf-8"), flags=re.MULTILINE)
    return title + shown(path.stem, lines)


if __name__ == "__main__":
    for screen in SCREENS:
        screen.write_text(again(screen), encoding="utf-8")
