"""Several objectives: sums, Pareto scores and margins by their definitions, and their best."""

import json
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from dpselect.cli import main
from truth.calls import Call, Slack, best_first, made
from truth.question import Question
from truth.questions.objectives import CLASSES, by_table

MECHANISMS = ["exponential", "permute-and-flip", "noisy-max", "pairwise", "noisy-sequence"]


@st.composite
def parts_of(draw, *, near=False):
    """Objectives as calls, with the scores, the bound and the monotony of each."""
    n, m = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    parts = []
    for _ in range(m):
        bound = draw(st.sampled_from([1, 1, 0.5, 10]))
        most = 4 if near else draw(st.sampled_from([4, 30, 10**6]))
        score = st.integers(-most, most)
        scores = [one * bound for one in draw(st.lists(score, min_size=n, max_size=n))]
        monotone = draw(st.booleans())
        more = {"monotone": monotone, **draw(st.sampled_from([{}, {"highest": max(scores)}]))}
        if draw(st.booleans()):
            sensitivity = Call("dp.GlobalSensitivity", bound, "edge")
        else:
            # It grows, or falls, with the score, as is stated.
            turn = draw(st.sampled_from([1, -1]))
            ranks = np.unique(turn * np.array(scores), return_inverse=True)[1]
            rise = [np.minimum(ranks / n + t / 20, 1) * bound for t in range(21)]
            at = Call(by_table, [row.tolist() for row in rise])
            sensitivity = Call("dp.ElementSensitivity", at, bound, "edge", horizon=21)
            more["direction"] = "non-decreasing" if turn == 1 else "non-increasing"
        part = Call("dp.Objective", scores, sensitivity, **more)
        parts.append((part, np.array(scores, dtype=float), bound, monotone))
    return parts


def dominators(table, dominance="standard"):
    """How many others dominate each candidate."""
    as_good = (table[:, :, None] >= table[:, None]).all(0)
    better = table[:, :, None] > table[:, None]
    beats = {
        "standard": as_good & better.any(0),
        "weak": as_good & ~np.eye(table.shape[1], dtype=bool),
        "strict": better.all(0),
    }[dominance]
    return beats.sum(0)


def margins(table, both):
    """Minus the lead of the worst rival, by its smallest part in steps of both candidates."""
    lead = ((table[:, :, None] - table[:, None]) / np.array(both)[:, None, None]).min(0)
    np.fill_diagonal(lead, -np.inf)
    return -lead.max(0)


def asked(draw, call, scores, bound, *, shifted=False):
    """Return the question whether a mechanism draws the best of a combined objective."""
    n, epsilon = len(scores), draw(st.sampled_from([1e4, 1e6]))
    k, name = draw(st.integers(1, n)), draw(st.sampled_from(MECHANISMS))
    name = "shifted" if shifted else name
    l1 = n * bound * 1.01 if name == "noisy-sequence" else 0
    slack = Slack(bound, epsilon, n, k, l1).value
    mechanism = Call(CLASSES[name], epsilon=epsilon)

    def ask():
        objective = made(call)
        if shifted and objective.direction is None:
            return None  # none is stated
        close = np.abs(objective.scores - scores) <= 1e-9 * (bound + np.abs(scores))
        return mechanism.made().release(objective, k) if close.all() else objective.scores

    def right(release):
        if release is None:
            return True
        if isinstance(release, np.ndarray):
            return f"scores are {release}, not {scores}"
        return best_first(release.answer, dict(enumerate(scores.tolist())), k, slack)

    return Question(f"{mechanism!r}.release({call!r}, {k})", ask, right)


def weights_of(draw, m):
    return draw(st.lists(st.sampled_from([1, 2, 5, 0.1, -1, -3]), min_size=m, max_size=m))


@st.composite
def sums(draw, name, *, shifted=False):
    parts = draw(parts_of(near=shifted))
    weights = weights_of(draw, len(parts))
    call = Call(f"dp.{name}", [part for part, *_ in parts], weights)
    scores = sum(w * u for w, (_, u, *_) in zip(weights, parts, strict=True))
    bound = sum(abs(w) * bound for w, (*_, bound, _) in zip(weights, parts, strict=True))
    return asked(draw, call, scores, bound, shifted=shifted)


@st.composite
def fronts(draw):
    parts = draw(parts_of())
    dominance = draw(st.sampled_from(["standard", "weak", "strict"]))
    call = Call("dp.pareto", [part for part, *_ in parts], dominance=dominance)
    table = np.array([u for _, u, *_ in parts])
    return asked(draw, call, -dominators(table, dominance).astype(float), table.shape[1] - 1)


@st.composite
def of_front(draw):
    parts = draw(parts_of())
    call = Call("dp.combine.pareto_front", [part for part, *_ in parts])
    wanted = np.flatnonzero(dominators(np.array([u for _, u, *_ in parts])) == 0).tolist()
    return Question(
        f"{call!r}",
        lambda: made(call).tolist(),
        lambda found: found == wanted or f"{found} for {wanted}",
    )


@st.composite
def leads(draw):
    parts = draw(parts_of())
    call = Call("dp.margin", [part for part, *_ in parts])
    both = [bound * (1 if monotone else 2) for *_, bound, monotone in parts]
    return asked(draw, call, margins(np.array([u for _, u, *_ in parts]), both), 1)


def selected(columns, arguments):
    """Return what the command selects from a table."""
    with (
        TemporaryDirectory() as folder,
        redirect_stdout(StringIO()) as out,
        suppress(SystemExit),
    ):
        path = Path(folder, "scores.csv")
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        main(["select", str(path), *map(str, arguments), "--json"])
    return SimpleNamespace(answer=tuple(json.loads(out.getvalue())["answer"]))


@st.composite
def commands(draw):
    """A table of scores, chosen from by the command."""
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 2))
    numbers = st.lists(st.integers(-30, 30), min_size=n, max_size=n)
    table = np.array([draw(numbers) for _ in range(m)], dtype=float)
    columns = {f"u{i}": [int(one) for one in row] for i, row in enumerate(table)}
    weights = weights_of(draw, m)
    combine = draw(st.sampled_from(["pareto", "weighted-sum", "margin"]))
    k = draw(st.integers(1, n))
    signed = np.sign(weights)[:, None] * table
    if m == 1 or combine == "weighted-sum":
        scores, bound = weights @ table, float(np.abs(weights).sum())
    elif combine == "pareto":
        scores, bound = -dominators(signed).astype(float), max(n - 1, 1)
    else:
        scores, bound = margins(signed, [2] * m) if n > 1 else np.zeros(1), 1
    arguments = [
        part
        for i, w in enumerate(weights)
        for part in ("--objective", f"u{i}{f':{w}' if w != 1 else ''}:global=1")
    ]
    arguments += ["--combine", combine] * (m > 1) + ["--k", k, "--neighbours", "add-remove"]
    mechanism = draw(st.sampled_from([None, *MECHANISMS]))
    arguments += ["--mechanism", mechanism] if mechanism else []
    arguments += ["--epsilon", 1e6, "--label", "name"]
    columns = {"name": [f"c{i}" for i in range(n)], **columns}
    by_name = {f"c{i}": score for i, score in enumerate(scores.tolist())}
    slack = Slack(bound, 1e6, n, k, n * bound if mechanism == "noisy-sequence" else 0).value
    call = Call(selected, columns, arguments)
    return Question(
        f"{call!r}",
        lambda: made(call),
        lambda found: best_first(found.answer, by_name, k, slack),
    )


QUESTIONS = {
    "weighted_sum": sums("weighted_sum"),
    "disjoint_sum": sums("disjoint_sum"),
    "weighted_sum by its direction": sums("weighted_sum", shifted=True),
    "disjoint_sum by its direction": sums("disjoint_sum", shifted=True),
    "pareto": fronts(),
    "pareto_front": of_front(),
    "margin": leads(),
    "dpselect select": commands(),
}
