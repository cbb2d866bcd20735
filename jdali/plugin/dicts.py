"""Defines the base of the iterators for PyTorch and PaddlePaddle, which return a dict of tensors for each pipeline."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSplit
from jdali.graph import is_compiled
from jdali.iterator import LastBatchPolicy
from jdali.iterator.assemble import Assembler
from jdali.pipeline import Pipeline
from jdali.plugin.dali_names import DaliNames
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


class DictIterator(DaliNames[list[dict[str, Any]]]):
    """The base of DALI's iterators for PyTorch and PaddlePaddle; for the arguments see these."""

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[Any],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: bool | str | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        super().__init__(
            pipelines, self._named(output_map), size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, fill_last_batch=fill_last_batch,
        )  # fmt: skip

    def _named(self, output_map: Sequence[Any]) -> Sequence[str]:
        """Returns the names of the outputs."""
        return output_map

    @property
    def _all_pipelines(self) -> bool:
        return self._reader_name is not None

    @abc.abstractmethod
    def _dicts(self, own: list[bool], mask_name: str | None) -> Dicts:
        """Returns the assembler that converts batches to tensors.

        Args:
            own: True for outputs whose memory only the iterator uses, so tensors may share this memory.
            mask_name: name of the mask; None: no mask.
        """

    def _assembler(self, **options: Any) -> Assembler:
        own = own_outputs(self._pipelines)
        own += [False] * (len(self.output_map) - len(own))
        return self._dicts(own, options["mask_name"])


class ClassificationIterator(DictIterator):
    """Names two outputs "data" and "label", for a second base class that makes the dicts.

    Args: see `DictIterator`.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: bool | str | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        super().__init__(
            pipelines, ["data", "label"], size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch,
        )  # fmt: skip


def own_outputs(pipelines: Sequence[Pipeline]) -> list[bool]:
    """Returns a flag for each output: True if only the iterator uses the memory of the output's batches.

    This is True for results of compiled programs; a source or a Python function may keep the arrays that it returns.
    """
    graphs = [pipe.outputs_of_graph for pipe in pipelines]
    return [all(is_compiled(node.source) for node in nodes) for nodes in zip(*graphs, strict=False)]
