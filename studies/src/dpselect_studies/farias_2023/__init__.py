"""Local dampening: Farias et al., VLDB J. 2023."""
