"""Arithmetic that operators share: rounding, sums and products with known bits, random numbers, sizes."""
