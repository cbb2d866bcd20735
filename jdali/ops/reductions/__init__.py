"""Operators that reduce axes, and `normalize`, which needs reductions."""
