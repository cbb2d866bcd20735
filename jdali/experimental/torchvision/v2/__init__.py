"""Transforms of `jdali.experimental.torchvision`; `functional` has them as functions."""
