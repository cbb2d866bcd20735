"""Operators that reduce axes, and `normalize`, which uses reductions."""
