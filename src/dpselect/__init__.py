"""Choose privately."""
