"""The program: its list of commands, its errors and how it ends."""

import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import dpselect as dp
from dpselect.cli import app
from dpselect.cli.commands import ABSENT, ELSEWHERE, Command, installed
from dpselect.cli.map import Heavy


def imported(arguments):
    """Return what a command imports."""
    program = f"import sys; from dpselect.cli import main\ntry: main({arguments!r})\nfinally: "
    program += "print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {*ran.stderr.split()}


def test_what_is_written_past_python_is_not_seen():
    """A panic of polars on a damaged file told how many rows it has."""
    program = "import atexit, os; from dpselect.cli import main; "
    program += "atexit.register(os.write, 2, b'1500 rows'); main(['fails'])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    assert ran.stderr.startswith(b"dpselect: ")
    assert b"1500" not in ran.stderr


class TestCommands:
    @pytest.mark.parametrize("name", installed())
    def test_the_help_of_a_command_begins_with_its_line_in_the_list(self, name):
        command = app.made(name)
        summary = installed()[name].summary

        assert command.name == name
        assert command.help.startswith(summary.removesuffix("."))
        assert summary.endswith(".")
        assert len(summary) <= 72

    def test_every_module_of_commands_is_listed(self):
        folder = Path(app.__file__).parent
        modules = {
            path.stem
            for path in folder.glob("*.py")
            if "\n    $ dpselect" in path.read_text("utf-8")  # an example of a help
        }
        listed = {home.module for home in installed().values()}

        assert {one for one in listed if one.startswith("dpselect.cli.")} == {
            f"dpselect.cli.{one}" for one in modules
        }

    def test_help_lists_every_command_and_imports_none(self, run):
        shown = run("--help").out

        assert all(f" {name} " in shown for name in installed())

    def test_the_list_imports_nothing_heavy(self):
        """Matplotlib, Numba, SciPy and scikit-learn import NumPy."""
        assert not {"narwhals", "numpy", "opendp", "polars"} & imported(["--help"])

    @pytest.mark.parametrize(
        "asked",
        [
            "percentile {} --column days --p 50,90 --upper 60 --step 1",
            "percentile {} --column days --p 50 --upper 60 --step 1 --by ward --groups a,b",
            "percentile {} --column days --p 50 --upper 60 --step 1 --user id --max-per-user 2",
            "top {} --column ward --k 1 --candidates a,b --user id --max-per-user 2",
            "keys {} --column ward --by days --groups 1,2 --delta 1e-6",
            "map {} --x days --y id --bounds 0,0,60,60 --grids 8 --out m.csv",
        ],
    )
    def test_a_dry_run_of_a_text_file_imports_no_engine(self, asked, tmp_path):
        file = tmp_path / "stays.csv"
        file.write_text("id,days,ward\n1,3,a\n")
        words = [one.format(file) for one in asked.split()]

        loaded = imported([*words, "--epsilon", "1", "--neighbours", "add-remove", "--dry-run"])
        heavy = {"narwhals", "numba", "numpy.ma", "numpy.random", "polars", "rich.console"}
        assert not {*heavy, "dpselect.budget.totals", "scipy"} & loaded
        # Of candidates that are listed nothing is computed in arrays.
        assert ("numpy" in loaded) != ("--candidates" in words)

    def test_a_package_that_is_not_installed_is_named(self, run, monkeypatch):
        command = Command("", "pip install dpselect-absent", ABSENT)
        monkeypatch.setitem(installed(), "absent", command)
        monkeypatch.setitem(ELSEWHERE, "absent", "dpselect-absent")
        ran = run("absent")

        assert "pip install dpselect-absent" in run("--help").out
        assert ran.code == 2
        assert "needs the package dpselect-absent: pip install dpselect-absent" in ran.error

    def test_a_question_of_such_a_package_is_named_and_others_are_asked(self, run, monkeypatch):
        monkeypatch.setattr(Heavy, "query", "dpselect_absent.Cells")
        monkeypatch.setattr(app, "made", cache(app.made.__wrapped__))
        ran = run("map", "heavy", "points.csv", "--k", "2")

        assert run("map", "--help").code == run("map", "release", "--help").code == 0
        assert ran.code == 2
        assert "needs the package dpselect-absent: pip install dpselect-absent" in ran.error


def test_a_weight_in_the_help_is_no_emoji(run):
    assert "cost:-2:global=5" in run("select", "--help").out


@pytest.fixture
def failing(monkeypatch):
    """Return how to make the command ``fails`` raise an error."""

    def make(error):
        def fails():
            raise error

        module = ModuleType("failing")
        module.register = lambda commands: commands.command("fails")(fails)
        monkeypatch.setitem(sys.modules, "failing", module)
        monkeypatch.setitem(installed(), "fails", Command("failing", "Fail."))

    yield make
    app.made.cache_clear()


def test_a_bug_shows_no_message(run, failing):
    failing(KeyError("the income of Ann is 424242"))
    ran = run("fails")

    assert ran.code == 70
    assert "424242" not in ran.error
    assert "internal error (KeyError at" in ran.error


def test_a_bug_is_shown_to_who_asks(failing, monkeypatch):
    failing(KeyError("x"))
    monkeypatch.setenv(app.DEBUG, "1")

    with pytest.raises(KeyError):
        app.main(["fails"])


def test_an_interrupt_is_not_a_crash(run, failing):
    failing(KeyboardInterrupt())
    ran = run("fails")

    assert (ran.code, ran.error) == (130, "dpselect: interrupted\n")


def test_without_docstrings_there_is_no_program(run, monkeypatch):
    """Of which its help is made."""
    monkeypatch.setattr(sys, "flags", SimpleNamespace(optimize=2))

    assert run("--help").code == 2


def test_the_version_is_printed(run):
    assert run("--version").out == f"dpselect {dp.__version__}\n"


@pytest.mark.parametrize(("group", "shown"), [((), "percentile"), (("papers",), "list")])
def test_without_a_command_there_is_help_and_no_empty_error(run, group, shown):
    ran = run(*group)

    assert shown in ran.out
    assert ran.error == ""
