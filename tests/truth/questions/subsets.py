"""Subsets: people of a status, as pages define them."""

import polars as pl
from hypothesis import strategies as st

import dpselect as dp
from truth.question import Rows, asked

POSITIVE = ["positive", " Positive", "POSITIVE ", "pos"]


@st.composite
def subset_asked(draw):
    """The people whose status is one of the positive ones, by their names or rows."""
    kind = draw(st.sampled_from(["word", "number", "flag", "float"]))
    of = {
        "word": (
            [*POSITIVE, "negative", "positives", "", None],
            ["positive", "Pos"],
            pl.String,
        ),
        "number": ([0, 1, 2, None], [1], pl.Int64),
        "flag": ([False, True, None], [True], pl.Boolean),
        "float": ([0.0, 1.0, 0.5, None], [1], pl.Float64),
    }
    values, positive, dtype = of[kind]
    if kind != "word":
        # One and true are one status, as reports of tests write either.
        positive = draw(
            st.sampled_from([[1], [True], ["1"]] if kind != "float" else [[1], [1.0]])
        )
    statuses = draw(st.lists(st.sampled_from(values), min_size=1, max_size=30))
    names = [f"p{(7 * at) % 31}" for at in range(len(statuses))]
    labelled, scheme = draw(st.booleans()), draw(st.sampled_from(["pure", "pure", "optimal"]))
    words = {str(one).strip().lower() for one in positive}
    members = [
        at
        for at, one in enumerate(statuses)
        if (str(one).strip().lower() in words if kind == "word" else one == 1)
    ]
    given = {
        "column": "s", "n": len(statuses), "epsilon": draw(st.sampled_from([200.0, 1000.0])),
        "positive": positive if draw(st.booleans()) or len(positive) > 1 else positive[0],
        **({"label": "name"} if labelled else {}),
        **({"d": len(members)} if draw(st.booleans()) else {}),
        **({"scheme": scheme} if scheme == "pure" else {}),
    }  # fmt: skip
    wanted = [names[at] if labelled else at for at in members]
    rows = Rows(
        ("name", "s"),
        tuple(((name, one), 1) for name, one in zip(names, statuses, strict=True)),
        {"s": dtype},
    )
    held = draw(st.sampled_from(["polars", "pandas", "objects"]))
    return asked(
        dp.Subset, given, rows,
        lambda release: set(release.answer) == set(wanted) or f"{release.answer} for {wanted}",
        held=held,
    )  # fmt: skip


QUESTIONS = {"subset": subset_asked()}
