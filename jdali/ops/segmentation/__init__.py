"""Operators on segmentation masks, given as maps of labels or as polygons."""
