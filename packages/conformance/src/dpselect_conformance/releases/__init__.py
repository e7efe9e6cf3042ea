"""Tests of a release as it runs: its draws on a neighbour, and its spend before them."""
