"""Figure 9: recall of the most influential nodes of DBLP, by ego betweenness."""

from dpselect.papers.farias_2023 import influence
from dpselect.papers.farias_2023.influence import cells, measure, plot
from dpselect.papers.study import Study

READING = """
To be read after the full run.
"""

STUDY = Study(
    title="Figure 9: recall of the top k nodes of DBLP by ego betweenness",
    small=influence.small("dblp_htne"),
    full=influence.full("dblp_htne"),
    cells=cells,
    measure=measure,
    plot=plot,
    reading=READING,
)
