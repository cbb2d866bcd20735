"""Operators on text."""
