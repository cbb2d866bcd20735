"""Batches of samples: where they lie, how large they are, where they came from, and the tensors users see."""
