"""Provides the transforms of `jdali.experimental.torchvision`; `functional` provides them as functions."""
