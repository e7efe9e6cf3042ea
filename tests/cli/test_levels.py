"""The command that releases a table of codes."""

import polars as pl
import pytest

CODES = [f"{chapter}{block}{code}" for chapter in "AB" for block in "01" for code in "012"]
ASKED = ("--column", "diagnosis", "--epsilon", 100, "--neighbours", "add-remove")


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    rows = [(p, code) for p in range(30) for code in CODES[: 1 + p % 12]]
    pl.DataFrame(rows, schema=["patient", "diagnosis"], orient="row").write_csv(path)
    return path


@pytest.fixture(params=["parents", "levels", "prefixes"])
def tree(request, tmp_path):
    path = tmp_path / "icd.csv"
    if request.param == "parents":
        pairs = [(code, code[:2]) for code in CODES]
        pairs += [(block, block[0]) for block in ("A0", "A1", "B0", "B1")]
        pl.DataFrame(pairs, schema=["code", "parent"], orient="row").write_csv(path)
    elif request.param == "levels":
        rows = [(code[0], code[:2], code) for code in CODES]
        schema = ["chapter", "block", "category"]
        pl.DataFrame(rows, schema=schema, orient="row").write_csv(path)
    else:
        path.write_text("\n".join(CODES))
        return ("--tree", path, "--prefixes", "1,2")
    return ("--tree", path)


def test_a_table_is_released_of_every_form_of_a_tree(run, visits, tree, tmp_path):
    out = tmp_path / "table.csv"
    ran = run("levels", visits, *ASKED, *tree, "--json", "--out", out)

    assert ran.code == 0
    assert ran.json["answer"] == CODES
    assert ran.json["counts"] == [30, 27, 24, 21, 18, 15, 12, 10, 8, 6, 4, 2]
    written = {row["code"]: row for row in pl.read_csv(out).to_dicts()}
    assert written["(all)"]["count"] == 177
    assert (written["A"]["level"], written["A"]["count"]) == (1, 135)


def test_a_table_is_printed_within_80_columns(run, visits, tree):
    ran = run("levels", visits, *ASKED, *tree)
    dry = run("levels", visits, *ASKED, *tree, "--dry-run")

    assert ran.code == dry.code == 0
    assert "      A00" in ran.out
    table = [line.rstrip() for line in ran.out.splitlines() if "  1    " in line]
    assert len(table) == len(CODES)
    assert max(map(len, table)) <= 80
    assert "above that of the best level" in " ".join(dry.out.split())


def test_rows_that_are_too_many_to_print_are_named(run, tmp_path):
    """Codes beside each other have counts that differ by 20 or more, so all are released."""
    codes = CODES + [f"A{a}{b}" for a in "23456" for b in "0123456"]
    (tree := tmp_path / "codes.txt").write_text("\n".join(codes))
    found = [code for place, code in enumerate(codes) for _ in range(place % 5 * 20)]
    pl.DataFrame({"diagnosis": found}).write_csv(visits := tmp_path / "visits.csv")
    ran = run("levels", visits, *ASKED, "--tree", tree, "--prefixes", "1,2")

    assert "47 more rows: --out table.csv" in " ".join(ran.out.split())
    assert "A00" not in ran.out


def test_a_code_that_is_its_own_section_is_one_code(run, tmp_path):
    visits, tree = tmp_path / "visits.csv", tmp_path / "tree.csv"
    visits.write_text("diagnosis\n" + "A00\n" * 20 + "B20\n" * 10 + "A00.1\n" * 9)
    rows = "I, A00-A09, A00\r\nI,A00-A09,A01\r\nI,B20,B20\r\n"
    tree.write_text(f"chapter,section,code\r\n{rows}", encoding="utf-8-sig", newline="")

    ran = run("levels", visits, *ASKED, "--tree", tree, "--json")
    shown = run("levels", visits, *ASKED, "--tree", tree)
    assert dict(zip(ran.json["answer"], ran.json["counts"], strict=True)) == {
        "A00": 20,
        "A01": 0,
        "B20": 10,
    }
    assert "such as deeper codes, are dropped" in " ".join(shown.out.split())
    tree.write_text("chapter,code\nI,B20\nII,B20\n")
    assert (
        "code 'B20' of --tree has two parents"
        in run("levels", visits, *ASKED, "--tree", tree).error
    )
