"""Operators on texts."""
