"""The parts of `jdali.pipeline.Pipeline`."""
