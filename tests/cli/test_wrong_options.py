"""What is wrong is one line in the words of the command line, and costs nothing."""

import json

import pytest

import dpselect as dp
from support.commands import DECLARED, EXAMPLES, Example, written

VALUE = "percentile --column days"
STEPS = "--upper 60 --step 1"
KEYS = "keys --delta 1e-6"
TOP = "top --column kind --k 1"
NODES = "nodes --nodes 61 --k 1"
MAP = "map --x lon --y lat --out FOLDER/map.parquet"
SCORES = "select --label name"
BOTH = "--objective days:global=1 --objective cases:global=1"
RESULT = "subset --column result"
LEVELS = "levels --column code"
WRONG = {
    "record": {
        "--upper -1": "--upper must be finite and > 0",
        "--label nobody": "there is no column 'nobody'",
        "--neighbours add-remove": "o such option: --neighbours",
        "--records 59": "another number of records than --records",
        "--records 0": "--records must be at least 1",
    },
    VALUE: {
        "--p 90": "give --step",
        STEPS: "give --p",
        f"--p 0 {STEPS}": "--p must be",
        f"--p 101 {STEPS}": "--p must be between 0 and 100",
        f"--p 0.9 {STEPS}": "--p 0.9 is a percentile below 1: give 90 for",
        f"--p half {STEPS}": "--p must be a number, or several",
    },
    "percentile": {
        "--lower some": "--lower must be a number, a date",
        "--lower 90": "--upper must be finite and above --lower",
        "--candidates 1,2": "--candidates replace the range: leave out --lower",
        "--user name": "--user and --max-per-user go together",
        "--user days --max-per-user 1": "cannot be the user and the number",
        "--where days=3 --neighbours substitute": "--where goes with",
        "--where dais=3": "did you mean 'days'",
        "--where days==3": "--where must be such as",
        "--column dayz": "did you mean 'days'?",
        "--neighbors edge": "did you mean --neighbours?",
        "--decimal ;": "--decimal must be '.' or ','",
    },
    TOP: {
        "--candidates none.txt": "--candidates must be a list such as",
        "--candidates x,y --plot x.png": "--plot shows",
        "--candidates x,y --k 3": "at most the number of candidates, 2",
        "--candidates x,y --above 5": "give --k or --above",
        "": "need a --delta above 0",
        "--delta 1e-6 --plot /nowhere/x.png": "existing folder",
        "--delta 1": "need a --delta above 0 and below 1",
        "--delta 1e-6 --groups a,b": "--groups is for one column, --by",
        "--delta 1e-6 --by days --groups a,b": "holds integer values, and 'a'",
        "--delta 1e-6 --mechanism noisy-sequence": "--mechanism is for public --candidates",
        "--candidates x,y --out table.xlsx": "--out must end with .csv or .parquet",
    },
    KEYS: {
        "--column lat": "column 'lat' is of type",
        "--column kind --user name": "go together: give both",
        "--column kind --assumed-people 10000000": "--delta must be below one",
        "--column kind --method best": "one of optimal, laplace",
        "--column kind --method rounds --min-people 2": "count",
        "--column kind --delta 0": "delta",
        "--column kind --delta 1.5": "need a --delta above 0 and below 1",
        "--column kind --delta nan": "--delta must be",
    },
    "series": {
        "--through 1": "--through and --file go together",
        "--through 4 --file f": "--through must be one of the 3 --periods",
        "--periods 2,2": "different",
    },
    LEVELS: {
        "--tree FOLDER/none.csv": "there is no file",
        "--tree FOLDER/empty.csv": "",
        "--tree FOLDER/heads.csv": "",
        "--tree FOLDER/parents.csv": "",
        "--tree FOLDER/codes.csv --prefixes one": "--prefixes must be an integer, or several",
        "--tree FOLDER/codes.csv --prefixes 2,1": "",
        "--tree FOLDER/codes.csv --out table.txt": "--out must end with .csv or .parquet",
        "--tree FOLDER/codes.csv --out nowhere/table.csv": "folder",
    },
    NODES: {
        "": "give --metric (degree: how many neighbours it has",
        "--metric fame": "--metric must be one of degree",
        "--metric ego-betweenness --max-degree 5": "--max-degree 5",
        "--metric degree --metric ego-density": "metrics need --combine, one of",
        "--metric ego-density --above 5": "give --k or --above",
    },
    "nodes --nodes 61 --metric degree --above 5": {
        "--mechanism exponential": "--above needs a",
        "--plot p.png --data-is-public": "--plot shows P(chosen first)",
    },
    "nodes": {
        "--k 62": "--k must be at most the number of nodes, 61",
        "--k 0": "--k must be at least 1",
        "--max-degree 5": "--max-degree goes with the metric ego-b",
        "--weights 1": "--weights go with --combine",
        "--weights a": "--weights must be a number, or several",
        "--nodes nobody.txt": "there is no nobody.txt",
        "--combine sum": "--combine must be one of pareto, weighted-sum, margin",
        "--combine weighted-sum": "needs --weights",
        "--redraw remaining": "--redraw goes with --combine",
        "--plot p.png --data-is-public --dry-run": "--dry-run does not",
        "--plot p.png": "say --data-is-public",
        "--plot /nowhere/p.png --data-is-public": "existing folder",
        "--source name": "must name nodes, which are integers",
    },
    "hubs": {
        "--engine polars": "hubs are counted in memory",
        "--candidates 62": "--candidates at most the number of nodes",
    },
    MAP: {
        "--bounds 5,40,-5,50": "the --bounds of x must go",
        "--bounds 5,40": "--bounds must be four numbers",
        "--bounds 4e5,5e6,5e5,6e6 --crs EPSG:4326": "EPSG:4326 is in degrees",
    },
    "map": {
        "--grids 8,x": "--grids must be an integer, or several",
        "--grids 8,8": "different from each other",
        "--grids 100000": "at most 67,108,864",
        "--method best": "--method must be",
        "--user name": "go together",
        "--out /nowhere/map.parquet": "existing folder",
        "--out map.shp": "the suffix must be one of .parquet (GeoParquet)",
        "--out map.geojson": "GeoJSON is in EPSG:4326: give --crs 'EPSG:4326'",
        "--plot /nowhere/map.png": "existing folder",
        "--plot map.png --dry-run": "--plot draws the released map",
        "--measure squared": "--measure must be one of relative, relative-clipped, absolute",
        "--outside wrap": "--outside must be 'drop' or 'clip'",
        "--queries none.csv": "no file none.csv",
    },
    "map --x lon --y lat --bounds 0,0,1,1": {"--grids 8": "give --out"},
    "heavy": {
        "--grid x": "--grid must be an integer, or several",
        "--k 5": "--k must be at most the number of cells, 4",
        "--above 3": "give --k or --above",
    },
    "map heavy --bounds 0,0,1,1 --grid 2 --k 1": {
        "": "need the columns of coordinates: --x, --y"
    },
    "tree": {
        "--label sky": "declares 'out'",
        "--test x.csv": "--test-is-public",
        "--max-depth -1": "--max-depth must be at least 0",
        "--save no/such/folder.json": "existing folder",
        "--plot x.png --dry-run": "--plot shows what is released",
        "--domains none.json": "there is no file none.json",
    },
    SCORES: {
        "--objective cases": "must be COLUMN[:WEIGHT]:global=BOUND",
        "--objective cases:global=": "must be COLUMN[:WEIGHT]:global=BOUND",
        "--objective cases:x:global=1": "must be COLUMN[:WEIGHT]:global=BOUND",
        "--objective cases:global=-1": "a bound must be finite and > 0",
        "--objective cases:global=nothing": "there is no column 'nothing'",
        "--objective price:global=1": "there is no column 'price'",
        "--objective name:global=1": "is not numeric",
        "--objective cases:global=1:local=e": "needs a column e0",
        "--objective cases:0:global=1": "weights must be finite and not all 0",
        "--objective cases:global=1 --k 99": "k must be at most",
        f"{BOTH} --combine both": "must be one of",
        f"{BOTH} --dominance pareto": "--dominance must be one of weak",
        f"{BOTH} --dominance weak --combine margin": "--dominance 'weak' goes with",
    },
    RESULT: {
        "": "--column needs --positive",
        "--positive positive --where name=1": "--where",
        "--positive positive --scheme optimal": "--scheme 'optimal' needs a --beta",
        "--positive positive --d 9": "there are not as many members as the --d",
    },
}
"""Messages by options, by examples or commands of other words."""

ONLY_RELEASED = {
    *("--records 59", "--grids 8", "--plot p.png --data-is-public"),
    *("--positive positive --d 9", "--metric ego-betweenness --max-degree 5"),
    "--through 4 --file f",
}
"""Mostly public claims that only the data contradict."""

ROWS = [(asked, *row) for asked, rows in WRONG.items() for row in rows.items()]


@pytest.fixture
def rows(tmp_path):
    path = written(tmp_path, "parquet")
    for name, text in {
        "empty": "",
        "heads": "a\nb\n",
        "parents": "code,parent\na,x\nb,x\na,y\n",
    }.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("asked", "options", "message"), ROWS)
@pytest.mark.parametrize("mode", [(), ("--dry-run",)], ids=["release", "dry run"])
def test_a_wrong_option_is_one_line(run, rows, asked, options, message, mode):
    of = next(one for name, one in EXAMPLES.items() if name in asked.split()[:2][::-1])
    example = EXAMPLES.get(asked) or Example(asked, of.neighbours)
    relation = dp.Neighbours.SWAP if "--d " in options else example.neighbours
    options = options.replace("FOLDER", str(rows.parent)).split()
    ledger = rows.parent / "clinic.budget"
    dp.Budget(9.0, 1e-3, neighbours=relation, path=ledger)
    ran = run(*example.line(rows, "--ledger", ledger, *options, *mode))
    said = [line for line in ran.error.splitlines() if "warning: " not in line]

    assert dp.Budget.open(ledger).entries == ()
    if mode and " ".join(options) in ONLY_RELEASED:
        return
    assert (ran.code, ran.out, len(said)) == (2, "", 1), ran
    assert message in said[0]


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("classes", None, "fill in 'classes'"),
        ("columns", {"sky": 3}, "must be a JSON object"),
        ("columns", {"sky": {"lowest": 3}}, "must have 'values'"),
        ("columns", {"sky": {"values": []}}, "fill in 'values', or 'low' and 'high', of the"),
        ("columns", {"sky": {"low": None, "high": 1}}, "of the columns sky"),
        ("columns", {"sky": {"low": 2, "high": 1}}, "domains.json, column 'sky': low must"),
        ("columns", {"wind": {"values": [1]}}, "no column 'wind'"),
        ("columns", {"sky": {"low": 0, "high": 1}}, "'sky'"),
        ("max_records", 10, "more records than max_records"),
        ("classes", ["no"], "classes must be at least two labels"),
    ],
)
def test_wrong_domains_files_are_one_line(run, tmp_path, part, value, message):
    path = written(tmp_path, "parquet")
    (tmp_path / "domains.json").write_text(json.dumps({**DECLARED, part: value}))
    ran = run(*EXAMPLES["tree"].line(path))

    assert (ran.code, ran.out) == (2, "")
    assert message in ran.error
