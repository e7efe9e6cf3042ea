"""The command that releases a table of codes."""

import polars as pl
import pytest

CODES = [f"{chapter}{block}{code}" for chapter in "AB" for block in "01" for code in "012"]
ASKED = ("--column", "diagnosis", "--epsilon", 1000, "--neighbours", "add-remove")
TREES = {
    "parents": "code,parent\n"
    + "".join(f"{code},{code[:2]}\n" for code in CODES)
    + "A0,A\nA1,A\nB0,B\nB1,B\n",
    "levels": "chapter,block,category\n"
    + "".join(f"{code[0]}, {code[:2]},{code}\r\n" for code in CODES),
    "prefixes": "\n".join(CODES),
}


@pytest.mark.parametrize("form", TREES)
def test_a_table_is_released_of_every_form_of_a_tree(run, tmp_path, form):
    visits, tree, out = (tmp_path / f"{name}.csv" for name in ("visits", "tree", "table"))
    rows = [code for p in range(30) for code in CODES[: 1 + p % 12]]
    pl.DataFrame({"diagnosis": [*rows, *["A00.1"] * 9]}).write_csv(visits)
    tree.write_text(TREES[form], encoding="utf-8-sig", newline="")
    more = ("--prefixes", "1,2") if form == "prefixes" else ()
    ran = run("levels", visits, *ASKED, "--tree", tree, *more, "--json", "--out", out)

    assert ran.json["answer"] == CODES
    assert ran.json["counts"] == [30, 27, 24, 21, 18, 15, 12, 10, 8, 6, 4, 2]
    written = {row["code"]: row for row in pl.read_csv(out).to_dicts()}
    assert written["(all)"]["count"] == 177
    assert (written["A"]["level"], written["A"]["count"]) == (1, 135)
