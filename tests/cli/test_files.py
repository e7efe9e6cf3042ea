"""What files are, to commands: which are read, and that none that is read is replaced."""

import re
import shlex

import polars as pl
import pytest
import xlsxwriter

import dpselect as dp
from support.commands import written

PRICE = ("--epsilon", 9, "--neighbours", "add-remove")
TOP = ("top", "rows.csv", "--column", "kind", "--k", 1, *PRICE, "--candidates")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """The table in the current folder."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


READ = ["rows.csv", "link.csv", "hard.csv", "./rows.csv", "list.csv", "groups.csv", "spent.db"]
IMPOSSIBLE = ["gone.csv", "/dev/null/a.csv", "none/a.csv", f"{'x' * 300}.csv"]


@pytest.mark.parametrize("name", [*READ, *IMPOSSIBLE])
def test_nothing_is_replaced_that_is_read_or_charged_that_cannot_be_written(run, rows, name):
    rows.with_name("link.csv").symlink_to("rows.csv")
    rows.with_name("hard.csv").hardlink_to("rows.csv")
    rows.with_name("gone.csv").symlink_to("none/a.csv")
    for listed in ("list.csv", "groups.csv"):
        rows.with_name(listed).write_text("x\ny\n")
    dp.Budget(99.0, neighbours="add-remove", path="spent.db")
    before = {one: one.read_bytes() for one in rows.parent.iterdir() if one.exists()}
    asked = (*TOP, "list.csv", "--by", "name", "--groups", "groups.csv", "--ledger", "spent.db")
    assert run(*asked, "--out", name).code == 2

    assert {one: one.read_bytes() for one in rows.parent.iterdir() if one.exists()} == before
    assert run(*asked, "--out", "new.csv").code == 0


@pytest.mark.parametrize("asked", [("rows.csv.gz", "--dry-run"), (f"{'x' * 300}.csv",)])
def test_a_file_that_is_not_packed_or_cannot_be_is_an_error_of_the_callers(run, rows, asked):
    name, *more = asked
    rows.rename("rows.csv.gz")

    assert run("top", name, *TOP[2:], "a,b", *more).code == 2


LOOKS = {
    "latin.csv": ("name,n\nMüller,1\nMöller,2\n", "latin-1", "--encoding cp1252"),
    "utf16.csv": ("name,n\nMüller,1\n", "utf-16", "--encoding 'utf-16'"),
    "tabs.csv": ("name\tn\nAnn\t1'200\n", "utf-8", "--separator '\\t' \\\n             --"),
    "swiss.csv": ("name,n\nAnn,1'200\n", "utf-8", """--thousands ''"'"''"""),
    "blanks.csv": ("name,n\nAnn,1 200\n", "utf-8", "options      --thousands ' '\n"),
    "french.csv": ("name;n\nAnn;1\u202f200,5\n", "utf-8", "--decimal ',' \\\n"),
    "quoted.csv": (
        'name,n\nAnn,"3,5"\n',
        "utf-8",
        "--decimal ',' \\\n             --separator ','",
    ),
    "both.csv": (
        'name,m,n\nAnn,3.5,"1,7"\n',
        "utf-8",
        "m: number\n             n: number by -",
    ),
    "missing.csv": ("name,n\nAnn,NA\nBob,7\n", "utf-8", "n: integer"),
    "times.csv": ("name,n\nAnn,2026-01-31 12:00\n", "utf-8", "n: time"),
    "no header.csv": ("Ann,1,2026-01-31\nBob,2,2026-02-01\n", "utf-8", "--header 'column_1,"),
    "digits.csv": ("day,n\n20260131,1\n20260201,2\n", "utf-8", "--date-format '%Y%m%d'"),
    "row names.csv": (
        "m,n\nAnn,1,2\nBob,3,4\n",
        "utf-8",
        "1 \\\n             --header 'column_1,m",
    ),
    "no name.csv": (",n\nAnn,1,2\nBob,3,4\n", "utf-8", "--header 'column_1,column_2,n'\n"),
    "wider.csv": ("n,m,,n\n1,Ann\n", "utf-8", "--header 'n,m,column_3,n_4'\n"),
    "whole.csv": ('"a;b"\n"1;2"\n"1;3"\n', "utf-8", "options      none\n"),
    "wide.csv": ("name,m,n\nAnn,1\nBob,2\n", "utf-8", "options      none\n"),
    "twice.csv": ("n,n\n1,2\n", "utf-8", "--skip-lines 1 \\\n             --header 'n,n_2'"),
    "equal.csv": ("0,0\n1,2\n", "utf-8", "options      --header 'column_1,column_2'\n"),
    "above.csv": (",Pay,,\nwho,m,n,o\nAnn,1,2,3\n", "utf-8", "options      --skip-lines 1\n"),
    "years.csv": ("who,1990,1991,1995\nAnn,1,2,3\n", "utf-8", "options      none\n"),
    "hash.csv": ("#,n\n1,2\n", "utf-8", "options      none\n"),
    "notes.csv": ("# by\n## of\n\n#,n\n1,2\n", "utf-8", "options      --skip-lines 3\n"),
    "among.csv": ("x\n\nm,n\n1,2\n#\n2,2\n", "utf-8", "options      --skip-lines 2\n"),
    "one.csv": ('n\n"1,200"\n"1,300"\n', "utf-8", "options      --thousands ','\n"),
    "ends.csv": ("name,n\n" + "Ann,1,\n" * 9, "utf-8", "options      none\n"),
    "single.csv": ("'name','n'\n'A, b',1\n", "utf-8", "options      --quote "),
    "commas.csv": ("name;n\n" + "A, b;3,5\n" * 300, "utf-8", "options      --separator ';'"),
    "marks.txt": ('"name"\t"n"\n"Ann"\t1\n', "utf-8", "options      --quote '\"'\n"),
    "dump.tsv": ("name\tn\nAnn\t\\N\n", "utf-8", "options      --missing '\\N'\n"),
    "lines.txt": ("n\n1\n2\n", "utf-8", "options      none\n"),
    "aligned.txt": ("name  n\nAnn   1\n", "utf-8", "blanks       they"),
    "odd.csv": ('1,"a,b"\n' * 200 + "1,2,3\n", "utf-8", "--header 'column_1,column_2'\n"),
    "stars.csv": ("name,*,^n$\nAnn,1,2.5\n", "utf-8", "^n$: number"),
    "codes.csv": ("name,n\nAnn,20261301\nBob,20260101\n", "utf-8", "n: integer"),
    "months.csv": ("name,n\nAnn,31JAN2026\n", "utf-8", "--date-format '%d%b%Y'"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_look_shows_the_curator_which_dialect_fits(run, rows, name):
    text, encoding, option = LOOKS[name]
    rows.with_name(name).write_text(text, encoding=encoding)
    ran = run("look", name)

    assert ran.out.startswith("not private")
    assert option in ran.out
    options = re.search(r"options +(.*?)\n(?=columns|blanks)", ran.out, re.DOTALL)[1]
    stated = [] if options == "none" else shlex.split(options.replace("\\\n", " "))
    column = re.search(r"columns +(.*): ", ran.out)[1]
    assert run("top", name, "--column", column, *TOP[4:], "a,b", *stated).code == 0


SHEETS = {
    "title": ([["Pay", "", ""], ["who", "*", "pay"], ["Ann", "x", 1]], "--skip-lines 1 "),
    "twice": ([["a", "", "a"], ["Ann", 1, 2]], "1 \\\n             --header 'a,column_2,a_3'"),
}


@pytest.mark.parametrize("name", SHEETS)
def test_look_finds_the_header_of_a_sheet(run, tmp_path, name):
    cells, option = SHEETS[name]
    with xlsxwriter.Workbook(tmp_path / "sheet.xlsx") as book:
        sheet = book.add_worksheet("Pay")
        for place, row in enumerate(cells):
            sheet.write_row(place, 0, row)
        book.add_worksheet("Notes")

    assert "'Pay', 'Notes'" in run("look", tmp_path / "sheet.xlsx").error
    assert option in run("look", tmp_path / "sheet.xlsx", "--sheet", "Pay").out


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("t", [950_000_000_000_000], dtype=pl.Datetime("ms")),
        pl.Series("d", ["01/31/26"]),
    ],
)
def test_look_proposes_nothing_for_a_table_with_types(run, tmp_path, column):
    column.to_frame().write_parquet(tmp_path / "t.parquet")

    ran = run("look", tmp_path / "t.parquet")
    assert f"{column.name}: {column.dtype}" in ran.out
    assert "options      none" in ran.out


def test_look_refuses_what_commands_do(run, tmp_path):
    (tmp_path / "mac.csv").write_bytes(b"a,b\r" + b"1,2\r" * 20_000)
    assert run("look", tmp_path / "mac.csv").code == 2

    (tmp_path / "no.csv.gz").write_text("a,b\n")
    assert run("look", tmp_path / "no.csv.gz").code == 2

    pl.DataFrame({"n": [1] * 999}).write_parquet(path := tmp_path / "t.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[:9] + b"xxxxxxxxxxxxxxxx" + whole[25:])

    assert run("look", path).code == 2


@pytest.mark.parametrize(
    ("odd", "code"),
    [(b"424242,7", 0), (b"\xff424242", 0), (b'"424242', 2)],  # a stray quote is a public claim
    ids=["two-fields", "no-utf-8", "quote"],
)
def test_an_odd_line_is_repeated_nowhere(run, tmp_path, odd, code):
    path = tmp_path / "secret.csv"
    path.write_bytes(b"days\n424242\n" + odd + b"\n424242\n")
    ran = run("record", path, "--column", "days", "--p", 90, "--upper", 60, "--epsilon", 1)

    assert ran.code == code
    assert "424242" not in ran.out + ran.error


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx", "tex"])
def test_the_table_of_an_answer_is_written(run, tmp_path, suffix):
    """A text that begins as a formula stays a text."""
    file, out = tmp_path / "rows.parquet", tmp_path / f"table.{suffix}"
    pl.DataFrame({"ward": ["=1+1"] * 3 + ["a_b & c"] * 2}).write_parquet(file)
    asked = ("--column", "ward", "--candidates", "=1+1,a_b & c", "--k", 2, "--epsilon", 1000)
    ran = run("top", file, *asked, "--neighbours", "add-remove", "--out", out)

    assert ran.code == 0, ran.error
    if suffix == "tex":
        assert "=1+1 & 3 \\\\\na\\_b \\& c & 2 \\\\\n" in out.read_text("utf-8")
        return
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "xlsx": pl.read_excel}[suffix]
    first, second = read(out).to_series(0).to_list()
    assert (first, second) == ("'=1+1" if suffix == "csv" else "=1+1", "a_b & c")
