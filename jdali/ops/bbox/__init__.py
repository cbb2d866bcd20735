"""Operators on bounding boxes."""
