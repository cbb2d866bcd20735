"""The transforms of `jdali.experimental.torchvision`, and `functional`."""
