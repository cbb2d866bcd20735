"""Formats of data sets: where their records lie, and how many of them are parsed at once."""
