"""Every command that releases, with one question for it, of one table of sixty rows."""

import json
from dataclasses import dataclass

import numpy as np
import polars as pl

from dpselect.neighbours import Neighbours

ROWS = 60
CODES = ("A00", "A01", "B00", "B01")


def table():
    """Return the table, in which row i is of ``p{i}`` and an edge from node 0 to i + 1."""
    i = np.arange(ROWS)
    return pl.DataFrame(
        {
            "name": [f"p{one}" for one in i],
            "days": i % 20,
            "kind": np.where(i % 4, "x", "y"),
            "source": 0 * i,
            "target": i + 1,
            "lon": np.where(i % 5, 0.1, 0.9),
            "lat": 0.2 + 0.0 * i,
            "month": 1 + i % 3,
            "code": [CODES[int("0000111223"[one % 10])] for one in i],
            "sky": np.where(i % 3, "sun", "rain"),
            "out": np.where(i % 3, "yes", "no"),
            "result": np.where(i % 8, "negative", "positive"),
            "cases": 1 + (i == 7) * 30,
            "admitted": np.full(ROWS, "2024-01-31"),
            "left": np.full(ROWS, "2024-02-05"),
            **dict.fromkeys(("twice", "others", "others_twice"), 1 + 0 * i),
        }
    )


DECLARED = {
    "label": "out",
    "classes": ["no", "yes"],
    "max_records": 100,
    "columns": {"sky": {"values": ["sun", "rain"]}},
}
TREE = "code,parent\n" + "".join(f"{code},{code[0]}\n" for code in CODES)


def visits():
    """Return the diagnoses of 400 patients: D0 of all of them, D3 of every fourth."""
    pairs = [(p, d) for p in range(400) for d in range(1 + p % 4)]
    return pl.DataFrame([{"patient": p, "diagnosis": f"D{d}", "ward": d % 2} for p, d in pairs])


def written(folder, kind="csv"):
    """Write the table, and what commands read beside it, and return its path."""
    path = folder / f"rows.{kind}"
    getattr(table(), f"write_{kind}")(path)
    (folder / "domains.json").write_text(json.dumps(DECLARED), encoding="utf-8")
    (folder / "codes.csv").write_text(TREE, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Example:
    """A question.

    Attributes:
        words: The command and its options without epsilon; ``FOLDER`` is where files are.
        neighbours: The relation.
        answer: What a large epsilon answers; None where that is not one answer.
        engines: Whether engines may hold the rows.
        repeats: Whether the same question is answered by its entry.
    """

    words: str
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    answer: object = None
    engines: bool = True
    repeats: bool = True

    def line(self, path, *more, epsilon=1):
        """Return the words of the command of a file."""
        command, *options = self.words.replace("FOLDER", str(path.parent)).split()
        place = ["heavy"] if options[0] == "heavy" else []
        related = self.neighbours is Neighbours.ADD_REMOVE or command == "select"
        relation = ["--neighbours", self.neighbours] if related else []
        rest = options[len(place) :]
        return [command, *place, path, *rest, "--epsilon", epsilon, *relation, *more]


MAP = "--x lon --y lat --bounds 0,0,1,1"
EXAMPLES = {
    "percentile": Example(
        "percentile --column days --p 90 --upper 20 --step 1 --assumed-records 60", answer=[17]
    ),
    "record": Example(
        "record --column days --p 90 --upper 20 --label name", Neighbours.SUBSTITUTE
    ),
    "top": Example("top --column kind --k 1 --candidates x,y,z", answer=["x"]),
    "keys": Example("keys --column kind --delta 1e-6", answer=["x", "y"]),
    "series": Example(
        "series --column kind --candidates x,y --k 1 --period month --periods 1,2,3",
        answer=["x"],
    ),
    "levels": Example("levels --column code --tree FOLDER/codes.csv", answer=[*CODES]),
    "nodes": Example("nodes --nodes 61 --k 1 --metric degree", Neighbours.EDGE, [0]),
    "hubs": Example(
        "hubs --nodes 61 --k 1 --metric ego-betweenness", Neighbours.EDGE, engines=False
    ),
    "subset": Example(
        "subset --column result --positive positive --label name",
        Neighbours.SUBSTITUTE,
        [f"p{one}" for one in range(0, ROWS, 8)],
    ),
    "variants": Example(
        "variants --label name --counts cases,twice,others,others_twice --k 1"
        " --cases 90 --controls 90",
        Neighbours.SUBSTITUTE,
        ["p7"],
    ),
    "map": Example(f"map {MAP} --grids 2,4 --out FOLDER/map.parquet"),
    "heavy": Example(f"map heavy {MAP} --grid 2 --k 1", answer=[[0.0, 0.0, 0.5, 0.5]]),
    "tree": Example("tree --domains FOLDER/domains.json --max-depth 1"),
    "trees-front": Example(
        "trees-front --domains FOLDER/domains.json --population 6", repeats=False
    ),
    "select": Example(
        "select --objective cases:global=1 --label name",
        Neighbours.SUBSTITUTE,
        ["p7"],
        engines=False,
        repeats=False,
    ),
}
