"""Operators on images: geometry, colour, filters, crops."""
