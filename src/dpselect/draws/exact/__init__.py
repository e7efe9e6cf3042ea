"""Exact samplers from the operating system's random bits."""
