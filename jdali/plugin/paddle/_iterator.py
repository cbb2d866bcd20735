"""Defines DALI's iterators for PaddlePaddle, on top of `jdali.iterator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali.plugin.dicts import ClassificationIterator, DictIterator, Dicts
from jdali.plugin.paddle._tensors import dense_tensor, from_array
from jdali.tensors import TensorList


class _PaddleTensors(Dicts):
    """Assembles a dict of dense tensors for each pipeline; see `Dicts`.

    Args:
        levels: LoD level of each output, by name.
    """

    def __init__(
        self, levels: Mapping[str, int], own: Sequence[bool], mask_name: str | None, all_pipelines: bool
    ):
        super().__init__(list(levels), mask_name, all_pipelines)
        self._levels, self._own = dict(levels), tuple(own)

    def of_pipeline(self, batches: Sequence[TensorList], rows: np.ndarray | None) -> dict[str, Any]:
        return {
            name: dense_tensor(name, batch if rows is None else batch.select(rows), level, own=own)
            for (name, level), batch, own in zip(self._levels.items(), batches, self._own, strict=True)
        }

    def of_mask(self, mask: np.ndarray) -> Any:
        return from_array(mask)


class DALIGenericIterator(DictIterator):
    """Returns batches as a list with a dict of `paddle.framework.core.DenseTensor`s for each pipeline.

    Args:
        pipelines: one pipeline, or several with the same batch size.
        output_map: for each output a name, or a pair of a name and a LoD level. The level is the number of axes along which
            samples may differ in size. With a level above 0, samples are concatenated into one tensor, which stores their
            lengths.
        size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch: see
            `jdali.iterator.DataIterator`.
        fill_last_batch: deprecated: True means `LastBatchPolicy.FILL`, False `LastBatchPolicy.PARTIAL`.
        dynamic_shape: has no effect, because batches may always differ in shape.

    Attributes:
        normalized_map: the LoD level of each output, by name.
    """

    def _named(self, output_map: Sequence[str | tuple[str, int]]) -> list[str]:
        pairs = [(item, 0) if isinstance(item, str) else (item[0], int(item[1])) for item in output_map]
        self.normalized_map = dict(pairs)
        return [name for name, _ in pairs]

    def _dicts(self, own: list[bool], mask_name: str | None) -> Dicts:
        return _PaddleTensors(self.normalized_map, own, mask_name, self._all_pipelines)


class DALIClassificationIterator(ClassificationIterator, DALIGenericIterator):
    """Specializes `DALIGenericIterator` for two outputs, named "data" and "label".

    Args:
        pipelines, size, reader_name, auto_reset, fill_last_batch, dynamic_shape, last_batch_padded,
            last_batch_policy, prepare_first_batch: see `DALIGenericIterator`.
    """
