"""Reads the formats of data sets: indexes their records, and parses many records at once."""
