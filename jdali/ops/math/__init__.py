"""Arithmetic and element-wise functions. Expressions such as `a + b` use these operators."""
