"""Tests of an objective or of a law, by enumeration of small universes of databases."""
