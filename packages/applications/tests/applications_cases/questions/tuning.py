"""Parameters by their predictions, and the best of private runs."""

import numpy as np
from hypothesis import strategies as st

from truth.calls import Call, released
from truth.question import Question


def either(seed, n, held, *, written):
    """Records of which only both columns together tell the class."""
    x = np.random.default_rng(seed).integers(0, 2, (n, 2))
    y = (x[:, 0] ^ x[:, 1]).tolist()
    if written:
        return [list(map(str, row)) for row in x.tolist()], [str(one) for one in y]
    return x if held == "array" else x.tolist(), y


@st.composite
def searched(draw, *, written=False, method="auto"):
    """A depth of 2 predicts all labels, a depth of 1 about half of them.

    Of repeated runs the best may be picked in none, as the page says; so there the score alone
    is asked for.
    """
    seed, n = draw(st.integers(0, 10**6)), draw(st.sampled_from([200, 400]))
    held, neighbours = (
        draw(st.sampled_from(["array", "rows"])),
        draw(st.sampled_from(["add-remove", "substitute"])),
    )
    tree = Call(
        "dp.trees.ID3Classifier",
        epsilon=1.0,
        domains=[[0, 1], [0, 1]],
        classes=draw(st.sampled_from([[0, 1], [1, 0]])),
        max_records=n,
        neighbours=neighbours,
    )
    grid = draw(st.sampled_from([[1, 2], [2, 1], [2, 0, 1, 1, 0]]))
    fields = {"epsilon": 1e6, "method": method}
    fields["validation_share"] = share = draw(st.sampled_from([0.3, 0.5]))
    search = Call("dp.tuning.PrivateSearchCV", tree, {"max_depth": grid}, **fields)
    data = Call(either, seed, n, held, written=written)

    def right(model):
        if model.best_params_ != {"max_depth": 2}:
            missed = method == "repeat" and model.best_score_ < 0.8 * share * n
            return missed or f"{model.best_params_} {model.best_score_}"
        x, y = either(seed, n, held, written=False)
        if (model.predict(x) != y).any():
            return f"{(model.predict(x) != y).sum()} of {n} are predicted wrongly"
        if method == "auto":
            return True
        far = abs(model.best_score_ - share * n) > 6.5 * (share * (1 - share) * n) ** 0.5
        return not far or f"best_score_ {model.best_score_}"

    return Question(
        f"{search!r}.fit(*{data!r})", lambda: search.made().fit(*data.made()), right
    )


def run(score):
    """A private run that releases its score, without a plan."""
    return lambda: (score, f"output of {score}")


scores_of_runs = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


@st.composite
def best_of(draw):
    """With 25 times as many runs as there are, all are tried but for one in 10^9 releases."""
    scores = draw(scores_of_runs)
    repetitions = Call("dp.tuning.Poisson", mean=25.0 * len(scores))
    fields = {"epsilon_per_run": 1.0, "neighbours": "add-remove", "delta": 1e-6}
    query = Call("dp.BestOf", repetitions=repetitions, **fields)
    best = max(scores)

    def right(release):
        found = release.answer, release.noisy_scores
        return found == ((f"output of {best}",), (best,)) or f"{found}"

    return released(query, [Call(run, one) for one in scores], right)


@st.composite
def first_above(draw):
    """One that reaches the threshold; nothing only if the runs end before, about 1 in 33."""
    scores = draw(scores_of_runs)
    threshold = draw(
        st.sampled_from([max(scores), min(scores), sorted(scores)[len(scores) // 2]])
    )
    fields = {"epsilon_per_run": 1.0, "neighbours": "add-remove"}
    repetitions = Call("dp.tuning.Geometric", mean=256)
    query = Call("dp.BestOf", repetitions=repetitions, threshold=threshold, **fields)

    def right(release):
        if not release.answer:
            return min(scores) < threshold
        [score] = release.noisy_scores
        return score >= threshold and release.answer == (f"output of {score}",)

    return released(query, [Call(run, one) for one in scores], right)


@st.composite
def studied(draw):
    """The best of runs that are made elsewhere."""
    scores = draw(scores_of_runs)
    fields = {"epsilon_per_run": 1.0, "neighbours": "add-remove", "delta": 1e-6}
    repetitions = Call("dp.tuning.Poisson", mean=25.0 * len(scores))
    query = Call("dp.BestOf", repetitions=repetitions, **fields)
    study = Call("dp.tuning.PrivateStudy", scores, query)

    def ask():
        made_study = study.made()
        for candidate in made_study:
            made_study.tell(candidate, "a model")
        return made_study.release

    return Question(
        f"study = {study!r}; [study.tell(one, 'a model') for one in study]",
        ask,
        lambda release: release.answer == ((max(scores), "a model"),) or f"{release.answer}",
    )


@st.composite
def stable(draw):
    """The best where it leads by three steps or more, else it or nothing."""
    scores = draw(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=8))
    monotone, bound = draw(st.booleans()), draw(st.sampled_from([1, 10, 1000]))
    objective = Call(
        "dp.Objective",
        scores,
        Call("dp.GlobalSensitivity", bound, "substitute"),
        monotone=monotone,
    )
    query = Call("dp.StableArgmax", epsilon=200.0, delta=1e-9, neighbours="substitute")
    second, best = sorted(scores)[-2:]
    clear = best - second >= 4 * 2 * bound

    def right(release):
        answers = (
            [(scores.index(best),)]
            if clear
            else [(), *((i,) for i, x in enumerate(scores) if x == best)]
        )
        return release.answer in answers or f"{release.answer} not in {answers}"

    return released(query, objective, right)


QUESTIONS = {
    "PrivateSearchCV": searched(),
    "PrivateSearchCV repeat": searched(method="repeat"),
    "PrivateSearchCV of text": searched(written=True),
    "BestOf": best_of(),
    "BestOf threshold": first_above(),
    "PrivateStudy": studied(),
    "StableArgmax": stable(),
}
