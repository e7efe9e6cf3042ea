"""Figure 8: recall of the most influential nodes of Enron, by ego betweenness."""

from dpselect_studies.farias_2023 import influence
from dpselect_studies.farias_2023.influence import cells, measure, plot
from dpselect_studies.study import Study

DISCUSSION = """
The paper's claim stands, and does not go far enough. With the paper's sensitivity (a function
of the degree) shifted dampening finds .79 of the true top 5 at epsilon 0.1 and all of it at 1;
the exponential mechanism and permute-and-flip need epsilon 10,000. **But degree alone, drawn
by the plain exponential mechanism, finds .93 at epsilon 0.1**: one edge changes a degree by at
most 1, and what shifted dampening of ego betweenness ranks by is nearly the degree.

Plain dampening never finds more than .2: its score divides by a sensitivity that grows with
the degree, and puts nodes of middling betweenness first. The tighter sensitivity by codegrees,
which is ours, helps the pairwise form most (.86 at epsilon 10), and *hurts* the shifted one,
whose ranking it pulls away from the degree.
"""

STUDY = Study(
    title="Figure 8: recall of the top k nodes of Enron by ego betweenness",
    small=influence.small("enron"),
    full=influence.full("enron"),
    cells=cells,
    measure=measure,
    plot=plot,
    discussion=DISCUSSION,
)
