"""Provides the transforms of `jdali.experimental.torchvision`, and as functions in `functional`."""
