"""Operators on tensors of any kind: types, shapes, joining, filling, lookup."""
