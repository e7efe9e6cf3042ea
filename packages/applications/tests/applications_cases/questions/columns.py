"""Columns by their scores."""

from hypothesis import strategies as st

from truth.calls import Call, Slack, best_first
from truth.question import Question
from truth.questions import trees


@st.composite
def columns(draw, criteria, mechanisms=(None,), *, estimator=False, **of):
    """The columns of the best scores, by the query and by the estimator."""
    records = draw(trees.records_of(**of))
    fields = trees.fields_of(draw, records)
    n = len(records.sizes)
    criterion, mechanism = draw(st.sampled_from(criteria)), draw(st.sampled_from(mechanisms))
    fields |= {"criterion": criterion} | ({"mechanism": mechanism} if mechanism else {})
    fields["k"] = k = draw(st.integers(1, n))
    bound = trees.bound_of(criterion, fields["max_records"])
    whole = n * bound if mechanism == "noisy-sequence" else 0
    slack = Slack(bound, fields["epsilon"], n, k, whole).value
    scores = {
        name: trees.score_of(table, criterion)
        for name, table in zip(records.names, trees.tables_of(records), strict=True)
    }
    if estimator:
        return trees.fitted(
            Call("dp.trees.PrivateSelectKBest", **fields),
            records,
            lambda model: best_first(model.selected_, scores, k, slack),
        )
    fields["domains"] = dict(zip(records.names, records.domains, strict=True))
    query = Call("dp.BestColumns", **fields)
    return Question(
        f"records = {records!r}; {query!r}.release((records.x, records.y))",
        lambda: query.made().release((records.x, records.y)),
        lambda release: best_first(release.answer, scores, k, slack),
    )


QUESTIONS = {
    **{f"BestColumns {criterion}": columns([criterion]) for criterion in trees.CRITERIA},
    "BestColumns by name": columns(trees.CRITERIA, trees.ROUNDS),
    "PrivateSelectKBest": columns(trees.CRITERIA, estimator=True),
    "PrivateSelectKBest of text": columns(trees.CRITERIA, estimator=True, written=True),
}
