"""Arithmetic that operators share: types of elements, constants, rounding, sums with known bits, random numbers, sizes."""
