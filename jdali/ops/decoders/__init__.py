"""Decoders of images, audio, video, arrays and compressed data."""
