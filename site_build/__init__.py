"""The documentation site: its pages, its builder, and the checks of what was built."""
