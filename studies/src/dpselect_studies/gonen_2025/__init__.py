"""Subset retrieval and group testing: Gonen, Langberg and Sprintson, arXiv:2501.13278."""
