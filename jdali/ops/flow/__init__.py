"""Operators that select, move or supply whole batches, and operators that call the user's Python."""
