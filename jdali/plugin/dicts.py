"""Defines the base of the iterators for PyTorch and PaddlePaddle, which return a dict of tensors for each pipeline."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.sharding import Sharding

from jdali._batches import BatchSplit
from jdali.graph import is_compiled
from jdali.iterator import LastBatchPolicy
from jdali.iterator.assemble import Assembler
from jdali.pipeline import Pipeline
from jdali.plugin.dali_names import DaliNames, policy_of
from jdali.tensors import TensorList


class Dicts(Assembler, abc.ABC):
    """Assembles a dict of tensors for each pipeline.

    Args:
        names: names of the outputs.
        mask_name: name of the mask; None: no mask.
        all_pipelines: return a dict even for pipelines that have no samples left in the epoch.
    """

    def __init__(self, names: Sequence[str], mask_name: str | None, all_pipelines: bool):
        super().__init__(names, mask_name=mask_name)
        self._all_pipelines = all_pipelines

    @abc.abstractmethod
    def of_pipeline(self, batches: Sequence[TensorList], rows: np.ndarray | None) -> dict[str, Any]:
        """Converts the samples at `rows` of a pipeline's outputs to a dict of tensors by name; None: all samples."""

    @abc.abstractmethod
    def of_mask(self, mask: np.ndarray) -> Any:
        """Converts the mask, bool [N], to a tensor."""

    def splits(self, pipelines: int) -> list[list[BatchSplit | None]]:
        return [[None] * len(self.names)] * pipelines

    def __call__(  # type: ignore[override]
        self, outputs: Sequence[Sequence[TensorList]], rows: Sequence[np.ndarray | None], mask: np.ndarray
    ) -> list[dict[str, Any]]:
        result, start = [], 0
        for batches, picked in zip(outputs, rows, strict=True):
            self.check(batches)
            count = len(batches[0]) if picked is None else len(picked)
            if count or self._all_pipelines:
                result.append(self.of_pipeline(batches, picked))
                if self.mask_name is not None:
                    result[-1][self.mask_name] = self.of_mask(mask[start : start + count])
            start += count
        return result


class DictIterator(DaliNames):
    """Adds the arguments of DALI's iterators for PyTorch and PaddlePaddle to `DataIterator`.

    Args:
        fill_last_batch: deprecated form of `last_batch_policy`: True means FILL, False PARTIAL.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int,
        reader_name: str | None,
        auto_reset: bool | str | None,
        fill_last_batch: bool | None,
        last_batch_padded: bool,
        last_batch_policy: LastBatchPolicy,
        prepare_first_batch: bool,
    ):
        last_batch_policy = policy_of(fill_last_batch, last_batch_policy)
        self._all_pipelines = reader_name is not None
        super().__init__(
            pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch,
        )  # fmt: skip

    @abc.abstractmethod
    def _dicts(self, own: list[bool], mask_name: str | None) -> Dicts:
        """Returns the assembler that converts batches to tensors.

        Args:
            own: True for outputs whose memory only the iterator uses, so tensors may share this memory.
            mask_name: name of the mask; None: no mask.
        """

    def _assembler(
        self, sharding: Sharding | Mapping[str, Sharding] | None, padded: Sequence[str], mask_name: str | None,
        leading: bool,
    ) -> Assembler:  # fmt: skip
        own = own_outputs(self._pipelines)
        own += [False] * (len(self.output_map) - len(own))
        return self._dicts(own, mask_name)

    def __next__(self) -> list[dict[str, Any]]:
        return super().__next__()

    def next(self) -> list[dict[str, Any]]:
        """Returns the next batch, like `next(iterator)`."""
        return self.__next__()


def own_outputs(pipelines: Sequence[Pipeline]) -> list[bool]:
    """Returns a flag for each output: True if only the iterator uses the memory of the output's batches.

    This is True for results of compiled programs; a source or a Python function may keep the arrays that it returns.
    """
    graphs = [pipe.outputs_of_graph for pipe in pipelines]
    return [all(is_compiled(node.source) for node in nodes) for nodes in zip(*graphs, strict=False)]
