"""Parses the formats of data sets: indexes records, and parses many records at once."""
