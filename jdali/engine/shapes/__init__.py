"""Padded shapes: `buckets` decides, `stage_shapes` knows the operators of a stage, `cost` counts what padding costs."""
