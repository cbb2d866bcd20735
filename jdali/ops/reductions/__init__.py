"""Operators that reduce axes, and those that need a reduction."""
