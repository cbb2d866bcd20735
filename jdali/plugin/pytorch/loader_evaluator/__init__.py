"""Provides DALI's `plugin.pytorch.loader_evaluator`, which measures whether a training loop waits for its data."""

from jdali.plugin.pytorch.loader_evaluator.loader import LoaderEvaluator

__all__ = ["LoaderEvaluator"]
