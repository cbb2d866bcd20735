"""Formats of data sets: indexes their records, and parses many records at once."""
