"""Figure 10: recall of the most influential nodes of GitHub, by ego betweenness."""

from dpselect.papers.farias_2023 import influence
from dpselect.papers.farias_2023.influence import cells, measure, plot
from dpselect.papers.study import Study

READING = """
To be read after the full run.
"""

STUDY = Study(
    title="Figure 10: recall of the top k nodes of GitHub by ego betweenness",
    small=influence.small("github_musae"),
    full=influence.full("github_musae"),
    cells=cells,
    measure=measure,
    plot=plot,
    reading=READING,
)
