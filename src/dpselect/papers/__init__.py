"""Every table and figure of the four papers, measured anew.

A module for each, in the folder of its paper, holds the setting, what is measured, the
printed numbers and what to make of the difference. Everything here is a simulation on public
data: exact scores are read, noise comes from NumPy, and nothing can be released.
"""

from dpselect.papers.catalogue import PAPERS, STUDIES, load
from dpselect.papers.running import Run, run
from dpselect.papers.study import Printed, Study, compare

__all__ = ["PAPERS", "STUDIES", "Printed", "Run", "Study", "compare", "load", "run"]
