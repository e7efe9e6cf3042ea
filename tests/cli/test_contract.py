"""The contract of every command that releases: what it says, spends, keeps and refuses."""

import re

import polars as pl
import pytest

import dpselect as dp
from dpselect.cli.commands import installed
from dpselect.combine import COMBINATIONS
from dpselect.draws.exact import samplers
from dpselect.mechanisms import MECHANISMS
from dpselect.networks import METRICS
from support.commands import EXAMPLES, written
from support.engines import SPARK, master

every_command = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)


@pytest.fixture
def rows(tmp_path):
    return written(tmp_path)


def ledger_for(example, folder, epsilon=1.5):
    path = folder / "clinic.budget"
    dp.Budget(epsilon, 1e-5, neighbours=example.neighbours, composition="sum", path=path)
    return path


def words(ran):
    return " ".join(ran.out.split())


def errors(ran):
    """Return the lines that are no warnings, nor notes below an error."""
    lines = ran.error.splitlines()
    return [one for one in lines if "warning: " not in one and not one.startswith("  ")]


def test_every_command_of_a_query_has_an_example(run):
    """Those with a dry run: the others read no private table, or a file of requests."""
    planned = {name for name in installed() if "--dry-run" in run(name, "--help").out}

    assert planned - {"run"} <= {*EXAMPLES, "map"}


@every_command
def test_a_release_is_told_paid_kept_and_answered_again(run, rows, example):
    ledger = ledger_for(example, rows.parent)
    asked = example.line(rows, "--ledger", ledger, "--note", "board 7")
    told, again = run(*asked, columns=200), run(*asked, "--json")
    more = run(*asked, *("--again",) * example.repeats)
    [entry] = dp.Budget.open(ledger).entries

    assert told.code == 0, told.error
    assert re.search(rf"epsilon 1\b.*: hides .* \({example.neighbours}\)", words(told))
    assert (entry.epsilon, entry.note, entry.neighbours) == (1, "board 7", example.neighbours)
    assert (more.code, more.out) == (2, "")
    assert "spent 1.0, requested 1.0, remaining 0.5" in more.error
    if example.repeats:
        assert (again.json["repeated"], again.json["recorded"]) == (True, f"{ledger}#1")
        assert again.json["remaining_budget"] == 0.5


@every_command
def test_a_dry_run_spends_nothing_and_reads_no_private_row(run, rows, example):
    ledger, before = ledger_for(example, rows.parent), {*rows.parent.iterdir()}
    asked = example.line(rows, "--ledger", ledger, "--dry-run")
    drawn = []
    with samplers.intercepted(lambda name, *_: drawn.append(name)):
        planned, said = run(*asked, "--json"), run(*asked, columns=200)
    # Every row has the values of the first one.
    pl.read_csv(rows).with_columns(pl.exclude("name").first()).write_csv(rows)

    assert (planned.code, drawn) == (0, []), planned.error
    assert planned.json["dry_run"] is True
    assert (planned.json["epsilon"], planned.json["remaining_budget"]) == (1, 0.5)
    assert planned.json["neighbours"] == str(example.neighbours)
    assert "would spend epsilon 1" in words(said)
    assert "would remain" in said.out
    assert run(*asked, columns=200).out == said.out
    assert dp.Budget.open(ledger).entries == ()
    assert {*rows.parent.iterdir()} <= before | {ledger}


WRONG = [
    (("--epsilon", 0), "--epsilon must be finite and > 0"),
    (("--epsilon", "nan"), "--epsilon must be finite and > 0"),
    (("--epsilon", "x"), "--epsilon must be a number"),
    (("--epsilon", 2), "remaining 1.5"),
    (("--neighbours", "people"), "--neighbours"),
    (("--mechanism", "best"), "--mechanism must be"),
    (("--engine", "abacus"), "--engine must be one of memory"),
    (("--master", "local[2]"), "--master goes with --engine spark"),
    (("--ledger", "nowhere.budget"), "there is no ledger at"),
    (("--ledger", "x" * 300), "ledger"),
    (("--separator", ";;"), "--separator"),
]


@every_command
def test_what_is_wrong_is_one_line_and_costs_nothing(run, rows, example):
    """Screens have the same refusals of a release and of its dry run."""
    ledger = ledger_for(example, rows.parent)
    for options, said in WRONG:
        ran = run(*example.line(rows, "--ledger", ledger, *options))

        assert (ran.code, ran.out) == (2, ""), options
        [line] = errors(ran)
        assert line.startswith("dpselect: ")
        assert said in ran.error or "no such option" in ran.error, ran.error
    other = next(one for one in dp.Neighbours if one is not example.neighbours)
    ledger.unlink()
    dp.Budget(9.0, neighbours=other, path=ledger)
    assert "neighbours" in run(*example.line(rows, "--ledger", ledger)).error
    assert dp.Budget.open(ledger).entries == ()


@every_command
def test_tables_and_columns_that_there_are_not_are_named(run, rows, example):
    folder = rows.parent
    (folder / "rows.rtf").write_text("days\n1\n", encoding="utf-8")
    (folder / "rows.parquet").write_bytes(b"PAR1 no")
    for name in ("none.csv", "rows.rtf", "rows.parquet"):
        ran = run(*example.line(folder / name))
        assert (ran.code, name in ran.error, len(errors(ran))) == (2, True, 1), ran.error
    (folder / "rows.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    ran = run(*example.line(rows))
    assert (ran.code, "olumn" in ran.error, len(errors(ran))) == (2, True, 1), ran.error


@every_command
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["memory", "polars", SPARK])
def test_a_large_epsilon_is_right_in_every_engine_and_file(
    run, tmp_path, example, kind, engine
):
    if engine != "memory" and not example.engines:
        pytest.skip("in memory alone")
    if (kind, engine) == ("csv", "spark"):
        pytest.skip("Spark takes no text files")
    path, of = written(tmp_path, kind), ("--engine", engine) * example.engines
    of += tuple(master()) if engine == "spark" else ()
    ran = run(*example.line(path, *of, "--json", epsilon=1000))

    assert ran.code == 0, ran.error
    assert ran.json["epsilon"] == 1000
    assert example.answer is None or ran.json["answer"] == example.answer


@every_command
def test_what_is_needed_is_named_and_the_help_lists_what_there_is(run, rows, example):
    line = example.line(rows)
    words = line[: 1 + ("heavy" in line)]
    missing, shown = run(*words, rows), run(*words, "--help").out
    listed = {"--mechanism": MECHANISMS, "--combine": COMBINATIONS}
    listed |= {"--metric": METRICS} if line[0] == "nodes" else {}
    if line[0] == "subset":  # whose mechanisms are schemes
        del listed["--mechanism"]

    assert (missing.code, missing.out) == (2, "")
    assert missing.error.startswith("dpselect: give --") or "--objective" in missing.error
    for option, names in listed.items():
        assert option not in shown or all(name in shown for name in names)
