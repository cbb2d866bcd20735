"""Operators on segmentation masks: maps of labels, and polygons."""
