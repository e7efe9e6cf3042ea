"""Differentially private selection.

dpselect answers questions about personal data whose answer is a *choice*, under differential
privacy: which value is the median, which diagnoses are most common, which members connect a
network, how to split a tree, where the cases are on a map.

A *query* is a release before its data: its fields are the public arguments, and its plan says
what will be spent on what. An *objective* is a score for every candidate together with what one
individual can change of it. A *scaling* turns it into scores that one individual moves by at
most 1. A *draw* picks a candidate from such scores, and is the only thing that is random and
private. A *release* carries its query and its plan. Several objectives combine into one.
Applications build objectives from real data and interpret what was drawn.
"""

from dpselect._optional import attach

# The names are listed in __init__.pyi, and imported when they are asked for, so that
# `import dpselect` and `dpselect --help` return at once.
__getattr__, __dir__, __all__ = attach(__name__)
