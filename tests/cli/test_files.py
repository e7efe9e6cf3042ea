"""What files are, to commands: how they are read is said, and none that is read is replaced."""

import json

import polars as pl
import pytest

from dpselect.cli import main
from dpselect.cli.app import COMMANDS

ROWS = "ward,days,admitted\n" + "heart,3,2026-01-31\nlung,12,2026-02-28\n" * 50
PRICE = ("--epsilon", "9", "--neighbours", "add-remove")
MEDIAN = ("percentile", "--column", "days", "--p", "50", "--upper", "60", "--step", "1", *PRICE)
TOP = ("top", "--column", "ward", "--k", "1", "--candidates", "heart,lung", *PRICE)
MONTHS = ("--lower", "2026-01-01", "--upper", "2026-12-31", "--step", "1d")
DAYS = ("percentile", "--column", "admitted", "--p", "50", *MONTHS, *PRICE)


@pytest.fixture
def stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "stays.csv").write_text(ROWS)
    return tmp_path / "stays.csv"


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    said = capsys.readouterr()
    return ended.value.code or 0, said.out, said.err


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (MEDIAN, "numbers as 1200.5; other fields are missing (1,200.50: --thousands ,; 3,5: "),
        (DAYS, "dates as 2026-01-31, times as 2026-01-31T12:00; other fields are missing (31/"),
        (TOP, "texts are compared exactly: 1 is not 1.0, and NA is a value (--missing NA); "),
        ((*MEDIAN, "--where", "ward = 'heart'"), "--decimal ','); texts are compared exactly"),
        ((*MEDIAN, "--thousands", ",", "--separator", ";"), None),
        ((*MEDIAN, "--decimal", ",", "--thousands", ".", "--separator", ";"), None),
    ],
)
def test_how_fields_are_read_is_said_whatever_they_hold(capsys, stays, asked, said, dry):
    stated = "--separator" in asked
    if stated:
        stays.write_text(ROWS.replace(",", ";"))
    code, out, err = run(capsys, asked[0], "stays.csv", *asked[1:], *dry)

    assert code == 0, err
    line = next(line for line in out.splitlines() if line.startswith("text file"))
    if said is not None:
        assert said in line
    else:
        assert "--thousands" not in line
        assert ("numbers as 1200,5" in line) is ("--decimal" in asked)


def test_beside_a_json_object_it_stands_on_standard_error(capsys, stays):
    code, out, err = run(capsys, TOP[0], "stays.csv", *TOP[1:], "--json")

    assert code == 0
    assert json.loads(out)["answer"] == ["heart"] or json.loads(out)["answer"] == ["lung"]
    assert "characters are UTF-8 (--encoding)" in err
    pl.read_csv(stays).write_parquet("stays.parquet")
    assert run(capsys, TOP[0], "stays.parquet", *TOP[1:], "--json")[2] == ""


@pytest.mark.usefixtures("stays")
@pytest.mark.parametrize("operator", ["<", ">="])
def test_texts_are_not_ordered_as_days(capsys, operator):
    where = ("--where", f"admitted {operator} '2026-02-01'")

    code, _, err = run(capsys, MEDIAN[0], "stays.csv", *MEDIAN[1:], *where)
    right = run(capsys, MEDIAN[0], "stays.csv", *MEDIAN[1:], *where, "--column-type",
                "admitted=date", "--json")  # fmt: skip

    assert code == 2
    assert "--column-type admitted=date" in err
    assert "--date-format" in err
    assert json.loads(right[1])["answer"] == [3 if operator == "<" else 12]


@pytest.mark.parametrize(
    "name", ["stays.csv", "link.csv", "./stays.csv", "spent.budget", "list.csv"]
)
def test_nothing_that_is_read_is_replaced(capsys, stays, name):
    stays.with_name("link.csv").symlink_to("stays.csv")
    stays.with_name("list.csv").write_text("heart\nlung\n")
    run(
        capsys,
        "budget",
        "spent.budget",
        "--create",
        "--epsilon",
        "99",
        "--neighbours",
        "add-remove",
    )
    before = {one: one.read_bytes() for one in stays.parent.iterdir()}
    asked = [word if word != "heart,lung" else "list.csv" for word in TOP[1:]]
    out = name if name != "spent.budget" else "spent.budget"

    for written in ("--out",) if name.endswith(".csv") else ("--plot", "--out"):
        code, _, err = run(
            capsys, "top", "stays.csv", *asked, "--ledger", "spent.budget", written, out
        )
        assert code == 2, err
    assert {one: one.read_bytes() for one in stays.parent.iterdir()} == before
    code, _, err = run(capsys, "report", "spent.budget", "--out", "spent.budget")
    assert code == 2
    assert "--out would replace a file that is read" in err


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (("--out", "none/t.csv"), "cannot write"),
        (("--plot", "p.nothing"), "--plot must end with one of"),
        (("--plot", "t.csv", "--out", "t.csv"), "--plot"),
    ],
)
def test_an_output_that_cannot_be_written_spends_nothing(capsys, stays, written, said):
    run(
        capsys,
        "budget",
        "spent.budget",
        "--create",
        "--epsilon",
        "99",
        "--neighbours",
        "add-remove",
    )

    code, _, err = run(
        capsys, "top", "stays.csv", *TOP[1:], "--ledger", "spent.budget", *written
    )

    assert code == 2
    assert said in err
    assert (
        "entries  0" in run(capsys, "budget", "spent.budget")[1]
        or not stays.with_name("t.csv").exists()
    )


LOOKS = {
    "us.csv": ("when\n" + "04/26/12\n05/27/12\n", "--date-format '%m/%d/%y'"),
    "semi.csv": ("a;b\n1,5;x\n2,5;y\n", "--separator ';'"),
    "latin.csv": ("name,n\nMüller,1\nMöller,2\n".encode("latin-1"), "--encoding cp1252"),
    "utf16.csv": ("name,n\nMüller,1\n".encode("utf-16"), "--encoding 'utf-16'"),
    "snap.tsv": ("# from\n0\t1\n0\t2\n", "--comment '#'"),
    "plate.csv": ("Block,384\n\nwho,ct,x\na,1,2\nb,NA,3\nc,2,4\n", "--skip-lines 2"),
    "money.csv": ('pay,x\n"1,200.50",a\n"3,000.00",b\n', "--thousands ','"),
    "zone.csv": ("at\n2026-01-05T10:00:00Z\n", "--time-zone UTC"),
    "plain.csv": ("a,b\n1,x\n", "options      none"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_look_shows_the_curator_which_dialect_fits(capsys, stays, name):
    content, option = LOOKS[name]
    stays.with_name(name).write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )

    code, out, err = run(capsys, "look", name)

    assert code == 0, err
    assert option in out
    assert out.startswith("not private")


@pytest.mark.usefixtures("stays")
def test_look_does_not_run_under_a_policy(capsys):
    code, out, err = run(capsys, "look", "stays.csv", "--policy", "policy.toml")

    assert (code, out) == (2, "")
    assert "which no policy lets out" in err
    assert "look" in COMMANDS
