"""Arithmetic and element-wise functions, the operators of expressions."""
