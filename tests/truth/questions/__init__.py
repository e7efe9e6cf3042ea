"""Ordinary questions by room: each module has ``QUESTIONS``, strategies by name."""
