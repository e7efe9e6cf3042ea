"""Questions: the page answers as Python does, and Python as its own laws say."""

import json

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import dpselect as dp
import dpselect_planner as planner
from dpselect.mechanisms import by_name
from dpselect.neighbours import Neighbours
from dpselect.percentiles import percentile_rank
from dpselect_planner import assembly
from dpselect_planner.questions import sorted_laws
from dpselect_pooling import PooledOutcomes
from support.refusals import refused

ADD_REMOVE, SUBSTITUTE = Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE
GRID = np.linspace(0, 20, 21)
COUNTS = np.array([31.0, 60, 12, 44, 7])

ASK = """
const MADE = {
  mostCommon, percentile, bestScore, keys, subset, response,
};
const ask = (made, facts, mechanism, epsilon, wanted) => {
  const question = MADE[made](JSON.parse(facts));
  const solved = wanted === null ? {} : {
    mechanisms: question.mechanisms,
    rho: question.rho ? question.rho(mechanism, epsilon) : rhoOfPure(epsilon),
    epsilon: finish(epsilonFor(question, mechanism, wanted)),
    people: finish(peopleFor(question, mechanism, epsilon, wanted)),
  };
  return JSON.stringify({
    law: question.law ? question.law(mechanism, epsilon) : [],
    outcome: question.outcome(mechanism, epsilon), ...solved,
  });
};
"""


def percentile(p, neighbours, *, shape="tail"):
    return planner.Percentile(
        values=GRID, counts=planner.spread(GRID, shape, 300), candidates=GRID, p=p, within=1,
        neighbours=neighbours,
    )  # fmt: skip


def anything(rng):
    """Yield every kind of question, of numbers that nobody chose.

    Each with the function of the page, and its arguments.
    """
    relation = str(rng.choice(["add-remove", "substitute"]))
    n, most = int(rng.choice([2, 3, 5, 8, 13, 40])), int(rng.choice([6, 300]))
    counts, k = rng.integers(0, most, n) * 1.0, int(rng.integers(1, min(n, 3)))
    facts = {"labels": [], "counts": counts.tolist(), "k": k, "neighbours": relation}
    yield "mostCommon", facts, planner.MostCommon(counts=counts, k=k, neighbours=relation)
    scores, bounds = rng.normal(0, 5, n), rng.uniform(0.3, 4, n)
    local = np.sort(rng.uniform(0, bounds.max(), (int(rng.integers(1, 6)), n)), axis=0)
    # Some candidates cannot change within a few steps.
    local[np.arange(len(local))[:, None] < rng.integers(-3, len(local) + 1, n)] = 0
    given = {"scores": scores, "bound": float(bounds[0]), "monotone": bool(rng.integers(2))}
    if rng.integers(2):
        given |= {"bounds": bounds, "local": tuple(local), "monotone": False}
    facts = {"labels": [], **given, "local": [one.tolist() for one in given.get("local", [])]}
    yield "bestScore", facts, planner.BestScore(**given, neighbours=Neighbours.EDGE)
    candidates = np.linspace(0, rng.integers(1, 50), n)
    values = np.unique(rng.choice([*candidates, *rng.normal(10, 20, 9)], 9))
    p = sorted(rng.choice(np.arange(5.0, 100, 5), int(rng.choice([1, 3])), replace=False))
    given = {"values": values, "counts": rng.integers(0, 9, values.size) + 1.0, "p": tuple(p)}
    given |= {"candidates": candidates, "within": 1, "neighbours": relation}
    yield "percentile", given, planner.Percentile(**given)
    delta, people = float(10 ** rng.uniform(-10, -2)), int(rng.integers(0, 400))
    per_user = int(rng.choice([1, 2]))
    facts = {"people": people, "delta": delta, "perUser": per_user, "neighbours": relation}
    yield (
        "keys",
        facts,
        planner.Keys(people=people, delta=delta, max_per_user=per_user, neighbours=relation),
    )
    d = int(rng.integers(1, n))
    facts = {"n": n, "d": d, "beta": int(rng.integers(0, min(d, n - d) + 1)), "delta": 0.5}
    yield "subset", facts, planner.Subset(**facts)


@pytest.fixture(scope="module")
def page():
    engine = MiniRacer()
    roots = ("questions.js", "shapes.js", "solving.js", "risk.js", "copying.js")
    engine.eval(assembly.script(*roots) + ASK)
    return engine


def same(ours, theirs, size=1.0):
    """Whether numbers agree; the page says null for NaN, and of what is not there."""
    if theirs is None:
        return ours is None or np.isnan(ours)
    return ours == pytest.approx(theirs, rel=1e-9, abs=1e-12 * size)


def told(page, made, facts, *asked):
    """Return what the page says of a question."""
    text = json.dumps(facts, default=lambda one: one.tolist())
    return json.loads(page.call("ask", made, text, *asked))


SOME = [case for seed in (5, 6) for case in anything(np.random.default_rng(seed))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "facts", "question"), [*SOME, ("response", {}, planner.Response())]
)
def test_the_page_answers_as_python_does(page, made, facts, question):
    epsilon, wanted = 0.8, 0.9
    for mechanism in question.mechanisms:
        theirs = told(page, made, facts, mechanism, epsilon, wanted)
        outcome = question.outcome(mechanism, epsilon=epsilon)
        asked = {"probability": wanted, "mechanism": mechanism}

        assert theirs["mechanisms"] == list(question.mechanisms)
        assert same(outcome.success, theirs["outcome"]["success"])
        assert same(outcome.error, theirs["outcome"]["error"])
        assert same(question.rho(mechanism, epsilon=epsilon), theirs["rho"])
        assert same(planner.epsilon_for(question, **asked), theirs["epsilon"])
        assert planner.people_for(question, epsilon=epsilon, **asked) == theirs["people"]


def test_counts_that_have_a_shape_are_the_same(page):
    led = {"options": 9, "people": 500, "gap": 20}
    ours = planner.leading_counts(3, **led).tolist()
    assert list(page.eval(f"ledBy(3, {json.dumps(led)})")) == pytest.approx(ours)
    for shape in ("tail", "bell", "even"):
        ours = planner.spread(GRID, shape, 300).tolist()
        theirs = page.eval(f"spread({GRID.tolist()}, {shape!r}, 300)")
        assert list(theirs) == pytest.approx(ours)


@pytest.mark.slow
def test_every_law_of_the_page_is_that_of_python(page):
    rng, compared = np.random.default_rng(20), 0
    for made, facts, question in (case for _ in range(400) for case in anything(rng)):
        epsilon = float(np.exp(rng.uniform(np.log(0.01), np.log(20))))
        for mechanism in question.mechanisms:
            if mechanism in {"noisy-max", "gaussian"} and rng.random() < 0.95:
                continue  # these take Python longest
            theirs = told(page, made, facts, mechanism, epsilon, None)
            outcome = question.outcome(mechanism, epsilon=epsilon)
            # Which of two points halfway is the best one depends on the last digit.
            if made != "percentile":
                for name, size in (("success", 1), ("error", 300)):
                    ours = getattr(outcome, name)
                    assert same(ours, theirs["outcome"][name], size), (facts, mechanism)
            if hasattr(question, "probabilities"):
                law = np.atleast_2d(question.probabilities(mechanism, epsilon=epsilon)).sum(0)
                np.testing.assert_allclose(np.array(theirs["law"], float), law, atol=1e-12)
            compared += 1
    assert compared > 4000


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, SUBSTITUTE])
def test_a_question_costs_what_the_plan_of_its_release_states(neighbours):
    asked, plans = {"epsilon": 0.9, "neighbours": neighbours}, []
    for mechanism, k in (("permute-and-flip", 1), ("noisy-max", 1), ("exponential", 3),
                         ("noisy-sequence", 3)):  # fmt: skip
        question = planner.MostCommon(counts=COUNTS, k=k, neighbours=neighbours)
        query = dp.TopKeys(k=k, candidates=list("abcde"), mechanism=mechanism, **asked)
        plans.append((question, mechanism, query.plan))
    for p in ((60.0,), (10.0, 50.0, 60.0, 90.0)):
        question, plan = (
            percentile(p, neighbours),
            dp.Percentiles(p=p, candidates=GRID, **asked).plan,
        )
        plans += [(question, mechanism, plan) for mechanism in question.mechanisms]
    for question, mechanism, plan in plans:
        assert question.rho(mechanism, epsilon=0.9) == pytest.approx(plan.rho, rel=1e-12)


def test_the_risk_is_the_same(page):
    for epsilon, releases, delta in [(0.3, 5, 1e-6), (0.05, 400, 1e-9), (2.0, 1, 0.0)]:
        asked = {"releases": releases, "epsilon": epsilon, "delta": delta}
        theirs = json.loads(page.eval(f"JSON.stringify(riskOf(null, '', {json.dumps(asked)}))"))
        ours = planner.risk_of(**asked)
        for name in ("sum", "epsilon", "odds", "posterior", "of_value"):
            assert theirs[name] == pytest.approx(getattr(ours, name), rel=1e-12)


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, SUBSTITUTE])
def test_counts_of_values_stand_for_people(neighbours):
    """The ranks from a histogram are those of the values that it stands for."""
    values, counts = np.array([0.5, 3.0, 3.5, 19.0]), np.array([4.0, 9.0, 0.0, 2.0])
    question = planner.Percentile(
        values=values, counts=counts, candidates=GRID, p=(60.0,), neighbours=neighbours
    )
    objective = percentile_rank(
        np.repeat(values, counts.astype(int)),
        p=60,
        candidates=GRID,
        form="signed",
        neighbours=neighbours,
    )
    law = by_name("permute-and-flip", 0.7).probabilities(objective)

    np.testing.assert_allclose(
        question.probabilities("permute-and-flip", epsilon=0.7)[0], law, atol=1e-15
    )


def test_one_by_one_sorts_independent_draws():
    """Of two percentiles, against the sum over all pairs."""
    alone = np.random.default_rng(0).dirichlet(np.ones(7), 2)
    laws, pairs = sorted_laws(alone), np.outer(*alone)
    smaller = [pairs[i, i:].sum() + pairs[i + 1 :, i].sum() for i in range(7)]

    np.testing.assert_allclose(laws[0], smaller, atol=1e-14)
    np.testing.assert_allclose(laws.sum(axis=0), sum(alone), atol=1e-14)


def test_what_is_solved_is_least():
    question = planner.MostCommon(counts=COUNTS, neighbours=ADD_REMOVE)
    asked = {"probability": 0.9, "mechanism": "permute-and-flip"}
    epsilon = planner.epsilon_for(question, **asked)
    people = planner.people_for(question, epsilon=0.1, **asked)

    for more, less in (
        ((question, epsilon), (question, epsilon * (1 - 1e-9))),
        ((question.scaled_to(people), 0.1), (question.scaled_to(people - 1), 0.1)),
    ):
        above, below = (
            one.outcome("permute-and-flip", epsilon=price).success
            for one, price in (more, less)
        )
        assert above >= 0.9 > below


def test_what_has_no_answer_is_none():
    tied = planner.MostCommon(counts=np.ones(3), within=0, k=2, neighbours=ADD_REMOVE)
    asked = {"probability": 0.99, "mechanism": "exponential"}

    assert planner.epsilon_for(tied, **asked) is None
    assert planner.people_for(tied, epsilon=1.0, **asked) is None
    response = {"probability": 0.9, "mechanism": "randomised-response"}
    assert planner.people_for(planner.Response(), epsilon=1.0, **response) is None
    with refused("probability"):
        planner.epsilon_for(tied, probability=1.0, mechanism="exponential")


COPY = """
const FACTS = { epsilon: "0.7", releases: "1", probability: "0.95", "total-delta": "1e-6" };
const copied = (task, mechanism) => {
  const state = { ...FACTS, task, data: "shape", mechanism };
  for (const { name, value } of fieldsOf(task, false)) state[name] = value;
  const question = TASKS[task].question(reader(state));
  const risk = riskOf(question, mechanism, { epsilon: 0.7, releases: 1, delta: 0 });
  return copies(state, question, mechanism, risk)["In Python"];
};
"""


@pytest.mark.parametrize(
    ("task", "mechanism", "query"),
    [
        ("most-common", "permute-and-flip", dp.TopKeys),
        ("percentile", "permute-and-flip", dp.Percentiles),
        ("keys", "optimal", dp.Keys),
        ("subset", "optimal", dp.Subset),
        ("subset", "pure", dp.Subset),
        ("response", "randomised-response", PooledOutcomes),
    ],
)
def test_what_is_copied_in_python_is_a_query(page, task, mechanism, query):
    page.eval(COPY.replace("const ", "var "))
    python = page.call("copied", task, mechanism).replace(", ...]", "]")
    names = {"people": 9}
    exec(python.partition("\nprint(")[0], names)  # noqa: S102 -- our own words

    assert isinstance(names["query"], query)
    assert names["query"].plan.epsilon == pytest.approx(0.7)
    assert "print(query.release(" in python
