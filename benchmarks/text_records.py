"""One record of a text file and how the others are read, in every engine.

A file ``x`` of random records is read, and read again with one record ``r`` more at a random
place. The records of ``x`` are written by Python's ``csv``; their fields are of separators,
quotation marks, line ends, NULs, bytes of no character and letters. So is ``r``: written by
``csv``, or (``none``) as no such writer does; or (``literal``) the file is read without
quotation marks, and every record is a line of such characters. All rows of ``x`` must be among
those of ``x + [r]``. A file that is refused is counted apart. DuckDB takes no text files: each
is refused before it is read. Spark is Sail, whose lines are of UTF-8, and reads lines alone:
its fields have no line ends. Run, in the folder of the project::

    nice python benchmarks/text_records.py --seconds 600

Writes ``benchmarks/results/text_records.csv``: by engine and writer of ``r`` how many pairs
were the same, refused or changed. None of ``csv`` and ``literal`` may be changed; those of
``none`` show why the writer is a public statement.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import cycle
from pathlib import Path
from time import process_time
from typing import Any

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables.engines import held
from dpselect.tables.spark import session

RESULTS = Path(__file__).with_name("results") / "text_records.csv"
NAMES = ["x", "y", "z"]
TOKENS = (
    *("a", "b", ",", ",", "\n", "\n", '"', '"', "\r", "\r\n", "\0", "\udcff"),
    *("é", " ", "#", '""', ',"', '",', '"\n'),
)
OF_SPARK = tuple(one for one in TOKENS if "\n" not in one and one != "\udcff")
WRITERS = ("csv", "none", "literal")
SLOW = {"spark": 25}
"""Of so many cases of an engine one is tried: a query of Spark takes as long as many others."""

Rows = Counter[tuple[Any, ...]]


def record(rng: random.Random, writer: str, tokens: Sequence[str]) -> str:
    """Return one record with its line end."""
    fields = ["".join(rng.choices(tokens, k=rng.randint(0, 4))) for _ in NAMES]
    if writer == "literal":
        return "".join(fields).replace("\n", " ") + "\n"
    if writer == "none":
        return ",".join(fields) + "\n"
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(fields)
    return buffer.getvalue()


def rows_of(path: Path, engine: str, writer: str, master: str | None) -> Rows:
    """Return the rows of a file as an engine holds it."""
    quote = "none" if writer == "literal" else '"'
    source = tables.Source(str(path), quote=quote, strip=False)
    data = held(source, engine, master=master if engine == "spark" else None)
    frame = tables.read_columns(data, numeric=[], plain=NAMES)
    return Counter(frame.rows())


def compared(
    folder: Path, rng: random.Random, engine: str, writer: str, master: str | None
) -> str:
    """Return what one case showed: "same", "refused" or "changed"."""
    tokens = OF_SPARK if engine == "spark" else TOKENS
    usual = "literal" if writer == "literal" else "csv"
    others = [record(rng, usual, tokens) for _ in range(5)]
    place = rng.randint(0, len(others))
    with_it = [*others[:place], record(rng, writer, tokens), *others[place:]]
    found = []
    for name, content in (("without", others), ("with", with_it)):
        path = folder / f"{name}.csv"
        text = "".join(["x,y,z\n", *content])
        path.write_bytes(text.encode(errors="surrogateescape"))
        try:
            found.append(rows_of(path, engine, writer, master))
        except DataError:
            return "refused"
    # A record of no such writer may be several lines, each a record.
    return "changed" if found[0] - found[1] else "same"


def main() -> None:
    """Compare for as many seconds of a processor as are given, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, start, done = (
        random.Random(asked.seed),  # noqa: S311 -- which records
        process_time(),
        Counter[tuple[str, str, str]](),
    )
    master, stop = sail()
    with tempfile.TemporaryDirectory() as folder:
        for case in cycle(range(1000)):
            if process_time() - start > asked.seconds:
                break
            for engine in ("memory", "polars", "duckdb", "spark"):
                if case % SLOW.get(engine, 1):
                    continue
                for writer in WRITERS:
                    shown = compared(Path(folder), rng, engine, writer, master)
                    done[engine, writer, shown] += 1
    stop()
    with RESULTS.open("w", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["engine", "writer of the record", "same", "refused", "changed"])
        for engine, writer in dict.fromkeys((one, two) for one, two, _ in done):
            counts = [done[engine, writer, one] for one in ("same", "refused", "changed")]
            lines.writerow([engine, writer, *counts])


def sail() -> tuple[str, Callable[[], None]]:
    """Return the address of a server of Spark Connect, and what stops it."""
    server = import_module("pysail.spark").SparkConnectServer()
    server.start(background=True)
    place = f"sc://127.0.0.1:{server.listening_address[1]}"
    session(place)
    return place, server.stop


if __name__ == "__main__":
    main()
