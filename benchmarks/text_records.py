"""One record of a text file and how the others are read, in every engine.

A file ``x`` of random records is read, and read again with one record ``r`` more at a random
place. The records of ``x`` are written by Python's ``csv``; their fields are of separators,
quotation marks, line ends, NULs, bytes of no character and letters. So is ``r``: written by
``csv``, or (``none``) as no such writer does; or (``literal``) the file is read without
quotation marks, and every record is a line of such characters. All rows of ``x`` must be among
those of ``x + [r]``. A file that is refused is counted apart. DuckDB and Spark take no text
files. Run, in the folder of the project::

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
from pathlib import Path
from time import process_time
from typing import Any

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables.opening import held

RESULTS = Path(__file__).with_name("results") / "text_records.csv"
NAMES = ["x", "y", "z"]
TOKENS = (
    *("a", "b", ",", ",", "\n", "\n", '"', '"', "\r", "\r\n", "\0", "\udcff"),
    *("é", " ", "#", '""', ',"', '",', '"\n'),
)
WRITERS = ("csv", "none", "literal")
Rows = Counter[tuple[Any, ...]]


def record(rng: random.Random, writer: str) -> str:
    """Return one record with its line end."""
    fields = ["".join(rng.choices(TOKENS, k=rng.randint(0, 4))) for _ in NAMES]
    if writer == "literal":
        return "".join(fields).replace("\n", " ") + "\n"
    if writer == "none":
        return ",".join(fields) + "\n"
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(fields)
    return buffer.getvalue()


def rows_of(path: Path, engine: str, writer: str) -> Rows:
    """Return the rows of a file as an engine holds it."""
    quote = "none" if writer == "literal" else '"'
    source = tables.Source(str(path), quote=quote, strip=False)
    data = held(source, engine)
    frame = tables.read_columns(data, numeric=[], plain=NAMES)
    return Counter(frame.rows())


def compared(folder: Path, rng: random.Random, engine: str, writer: str) -> str:
    """Return what one case showed: "same", "refused" or "changed"."""
    usual = "literal" if writer == "literal" else "csv"
    others = [record(rng, usual) for _ in range(5)]
    place = rng.randint(0, len(others))
    with_it = [*others[:place], record(rng, writer), *others[place:]]
    found = []
    for name, content in (("without", others), ("with", with_it)):
        path = folder / f"{name}.csv"
        text = "".join(["x,y,z\n", *content])
        path.write_bytes(text.encode(errors="surrogateescape"))
        try:
            found.append(rows_of(path, engine, writer))
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
    with tempfile.TemporaryDirectory() as folder:
        while process_time() - start < asked.seconds:
            for engine in ("memory", "polars"):
                for writer in WRITERS:
                    shown = compared(Path(folder), rng, engine, writer)
                    done[engine, writer, shown] += 1
    with RESULTS.open("w", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["engine", "writer of the record", "same", "refused", "changed"])
        for engine, writer in dict.fromkeys((one, two) for one, two, _ in done):
            counts = [done[engine, writer, one] for one in ("same", "refused", "changed")]
            lines.writerow([engine, writer, *counts])


if __name__ == "__main__":
    main()
