"""Operators on matrices of affine transforms, and on points."""
