"""Figure 9: recall of the most influential nodes of DBLP, by ego betweenness."""

from dpselect_studies.farias_2023 import influence
from dpselect_studies.farias_2023.influence import cells, measure, plot
from dpselect_studies.study import Study

DISCUSSION = """
A substitute for com-dblp, a tenth of its size, so no printed number can be compared. The
picture is that of [Enron](#figure-8-recall-of-the-top-k-nodes-of-enron-by-ego-betweenness):
shifted dampening with the paper's sensitivity finds .93 of the true top 5 at epsilon 1, the
exponential mechanism nothing at 10,000, and **degree alone finds .98 at epsilon 1**. At
epsilon 0.1 no method finds anything: the largest degrees, 312 and 231 among 28,085, are too
close for so little.
"""

STUDY = Study(
    title="Figure 9: recall of the top k nodes of DBLP by ego betweenness",
    small=influence.small("dblp_htne"),
    full=influence.full("dblp_htne"),
    cells=cells,
    measure=measure,
    plot=plot,
    discussion=DISCUSSION,
)
