"""The same questions by the command line."""

import json
import os
import tempfile
from pathlib import Path

from hypothesis import strategies as st

from truth.question import Question, Rows, runs
from truth.questions.percentiles import Grid, exact, expand, right_values


def shell(arguments, rows):
    """Return what ``dpselect`` prints as JSON for a CSV file of rows."""
    from contextlib import redirect_stdout, suppress
    from io import StringIO

    from dpselect.cli import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        rows.frame().write_csv(path)
        printed = StringIO()
        with redirect_stdout(printed), suppress(SystemExit):
            main([arguments[0], os.fspath(path), *arguments[1:], "--json"])
    return json.loads(printed.getvalue())


@st.composite
def small_columns(draw):
    """Numbers around a range of a few candidates, missing ones among them."""
    lower, step, last = draw(st.sampled_from([(0, 1, 60), (-5, 7, 10), (1000, 250, 12)]))
    near = st.integers(-2, last + 2).map(lambda k: lower + k * step)
    pairs = draw(runs(near, times=(1, 2, 3, 20)))
    p = draw(st.sampled_from([(50,), (90,), (99,), (10, 50, 90)]))
    grid = Grid(exact(lower), exact(step), last)
    rows = (*(((one,), times) for one, times in pairs), ((None,), 2))
    return (
        grid,
        p,
        (lower, lower + step * last, step),
        expand(pairs),
        Rows(("v",), rows, {"v": int}),
    )


@st.composite
def percentile_command(draw):
    grid, p, (lower, upper, step), values, rows = draw(small_columns())
    given = [
        "percentile", "--column", "v", "--p", ",".join(map(str, p)), f"--lower={lower}",
        "--upper", upper, "--step", step, "--neighbours", "add-remove", "--epsilon", 10000,
    ]  # fmt: skip
    given = [str(one) for one in given]
    return Question(
        f"shell({given}, {rows})",
        lambda: shell(given, rows),
        lambda found: right_values(found["answer"], values, grid, p, epsilon=1e4),
    )


@st.composite
def top_command(draw):
    pairs = draw(runs(st.sampled_from(["a", "b", "ä", "10", "c d", None]), times=(1, 2, 3, 20)))
    rows = Rows(("c", "n"), tuple(((one, 1), times) for one, times in pairs), {"c": str})
    k = draw(st.integers(1, 3))
    given = [
        "top", "--column", "c", "--k", k, "--candidates", "a,b,ä,10,zz", "--neighbours",
        "add-remove", "--epsilon", 10000,
    ]  # fmt: skip
    given = [str(one) for one in given]
    counts = {
        key: sum(times for one, times in pairs if one == key)
        for key in ["a", "b", "ä", "10", "zz"]
    }

    def right(found):
        of = [counts.get(one) for one in found["answer"]]
        return (
            of == sorted(counts.values(), reverse=True)[:k] or f"{found['answer']} of {counts}"
        )

    return Question(f"shell({given}, {rows})", lambda: shell(given, rows), right)


QUESTIONS = {
    "dpselect percentile": percentile_command(),
    "dpselect top": top_command(),
}
