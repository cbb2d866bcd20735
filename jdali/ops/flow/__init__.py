"""Operators that pick, move or hand out whole batches, and those that call the user's Python."""
