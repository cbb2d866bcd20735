"""The operators as functions that run at once, on tensors and batches: no graph, no pipeline."""
