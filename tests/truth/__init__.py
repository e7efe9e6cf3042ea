"""Plain questions at a large epsilon, whose right answers follow from the pages alone."""
