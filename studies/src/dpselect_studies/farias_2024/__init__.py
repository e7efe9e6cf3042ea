"""PrivPareto and PrivAgg: Farias et al., arXiv:2412.14380."""
