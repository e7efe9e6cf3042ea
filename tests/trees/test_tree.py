"""Released trees: the same answers with fewer leaves, and pictures of one page."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect.trees import Bins, Leaf, Split, Tree
from dpselect.trees.domains import Schema

CLASSES = ["no", "yes"]


def test_a_drawn_leaf_has_its_class_and_counts_and_siblings_of_one_class_are_one():
    schema = Schema.of(
        {"sky": ["sun", "rain in the evening, then fog", "fog"]}, CLASSES, ["sky"]
    )
    below = (Leaf((1.0, 4000.0)), Leaf((-1.0, -3.0)), Leaf((1250.0, -3.0)))
    drawn = Tree(schema, Split(0, (0, 1, 2), below)).plot(title="epsilon = 1")

    assert drawn.get_title() == "epsilon = 1"
    assert [text.get_text() for text in drawn.texts] == [
        "sky in {sun, rain in the even…\nyes  (no 0, yes 4,000)",
        "sky = fog\nno  (no 1,250, yes 0)",
        "sky",
    ]


def test_a_dollar_sign_of_a_value_begins_no_formula():
    schema = Schema.of([[r"$\u$", "a"]], [r"$\x$", "b"], ["$c$"])
    ax = Tree(schema, Split(0, (0, 1), (Leaf((9.0, 0.0)), Leaf((0.0, 9.0))))).plot(title="$t$")
    ax.figure.draw_without_rendering()

    assert ax.get_title() == "$t$"
    assert any(r"$\u$" in text.get_text() for text in ax.texts)


def _codes(schema):
    return np.array(list(product(*(range(domain.size) for domain in schema.domains))))


SCHEMA = Schema.of(
    {"a": ["x", "y"], "b": ["x", "y", "z"], "c": Bins(edges=[0, 1, 5])},
    CLASSES,
    ["a", "b", "c"],
)
NODES = st.recursive(
    st.tuples(*[st.integers(-2, 3)] * 2).map(lambda two: Leaf(tuple(map(float, two)))),
    lambda below: st.integers(0, 2).flatmap(
        lambda column: st.lists(
            st.integers(0, 1),
            min_size=SCHEMA.domains[column].size,
            max_size=SCHEMA.domains[column].size,
        ).flatmap(
            lambda of: st.tuples(below, below).map(lambda two: Split(column, tuple(of), two))
        )
    ),
    max_leaves=8,
)


def test_merged_leaves_have_the_sum_of_noisy_counts_the_negative_ones_too():
    # The second of them has no positive count: its class is that of the nodes above it.
    leaves = tuple(map(Leaf, [(5.0, -4.0), (-2.0, -3.0), (8.0, 6.0)]))
    tree = Tree(SCHEMA, Split(0, (0, 1), (Split(1, (0, 1, 2), leaves), Leaf((-1.0, 9.0)))))
    [same, other] = tree.simplified().root.branches

    assert same.counts == (13.0, 0.0)
    assert other.counts == (0.0, 9.0)
    assert tree.summary()[-1] == "(leaves of a class are added up: the tree has 4)"


@pytest.mark.slow
@given(NODES)
def test_a_simplified_tree_answers_every_declared_value_alike(root):
    tree = Tree(SCHEMA, root)
    short = tree.simplified()
    codes = _codes(SCHEMA)
    answers = [one.probabilities(codes).argmax(axis=1).tolist() for one in (tree, short)]

    assert answers[0] == answers[1]
    assert short.leaves <= tree.leaves
    assert short.leaves <= len(codes)
    assert short.simplified() == short


def test_an_answer_names_no_value_that_those_above_leave_out():
    first, second = Leaf((5.0, 0.0)), Leaf((0.0, 5.0))
    tree = Tree(SCHEMA, Split(1, (0, 0, 1), (Split(1, (0, 1, 0), (first, second)), first)))
    inner = tree.simplified().root.branches[0]
    last = SCHEMA.domains[1].labels[2]

    assert last not in tree.simplified().answer(inner, 0)
    assert last not in tree.simplified().answer(inner, 1)
