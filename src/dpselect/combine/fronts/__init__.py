"""The Pareto score of several objectives, its sensitivity, metric C and a picture."""
