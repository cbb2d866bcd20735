"""Operators on matrices of affine transforms, and on the points that these map."""
