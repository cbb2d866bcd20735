"""Decoders of images, sound, video, arrays and compressed data."""
