"""Ordinary questions to applications: each module has ``QUESTIONS``, strategies by name."""
