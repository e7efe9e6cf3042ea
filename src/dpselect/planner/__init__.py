"""The planner: which mechanism, which epsilon, how many people; as a page and in Python."""
