"""Arithmetic and element-wise functions: the parts of expressions."""
