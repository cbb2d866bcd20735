"""Defines DALI's iterators for PyTorch, on top of `jdali.iterator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch

from jdali import types
from jdali.iterator import IteratorError, LastBatchPolicy
from jdali.pipeline import Pipeline
from jdali.plugin.dicts import ClassificationIterator, DictIterator, Dicts
from jdali.plugin.pytorch.torch_utils import as_torch, dense_tensors, to_torch_type
from jdali.tensors import TensorList

_DENSE, _LIST, _COO = "dense", "sparse_list", "sparse_coo"


class _TorchTensors(Dicts):
    """Assembles a dict of tensors for each pipeline; see `Dicts`.

    Args:
        kinds: kind of each output: "dense", "sparse_list" or "sparse_coo".
    """

    def __init__(
        self, names: Sequence[str], kinds: Sequence[str], own: Sequence[bool], mask_name: str | None,
        all_pipelines: bool,
    ):  # fmt: skip
        super().__init__(names, mask_name, all_pipelines)
        self._kinds, self._own = tuple(kinds), tuple(own)

    def of_mask(self, mask: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(mask.copy())

    def bytes_of(self, array: torch.Tensor) -> int:
        # `nbytes` of a sparse tensor raises.
        parts = (array._indices(), array._values()) if array.is_sparse else (array,)
        return sum(part.nbytes for part in parts)

    def of_pipeline(self, batches: Sequence[TensorList], rows: np.ndarray | None) -> dict[str, Any]:
        dense = [i for i, kind in enumerate(self._kinds) if kind == _DENSE]
        own = [self._own[i] for i in dense]
        found = dense_tensors([self.names[i] for i in dense], [batches[i] for i in dense], own)
        tensors: dict[str, Any] = dict.fromkeys(self.names)
        for i, tensor in zip(dense, found, strict=True):
            tensors[self.names[i]] = tensor if rows is None else tensor[torch.from_numpy(rows)]
        for name, kind, batch in zip(self.names, self._kinds, batches, strict=True):
            if kind != _DENSE:
                chosen = batch if rows is None else batch.select(rows)
                samples = [as_torch(sample, copy=True) for sample in chosen.to_samples()]
                tensors[name] = samples if kind == _LIST else _coo(name, batch.dtype, samples)
        return tensors


def _coo(name: str, dtype: types.DALIDataType, samples: Sequence[torch.Tensor]) -> torch.Tensor:
    """Joins samples that have one axis into a sparse tensor; value j of sample i gets the index (i, j)."""
    if any(sample.ndim != 1 for sample in samples):
        raise ValueError(
            f"iterator: output {name!r} is wanted as {_COO}, so its samples must have one axis, not "
            f"{samples[0].ndim}"
        )
    coordinates = [(i, j) for i, sample in enumerate(samples) for j in range(len(sample))]
    indices = torch.tensor(coordinates, dtype=torch.int64).reshape(-1, 2).T
    values = torch.hstack(list(samples)) if samples else torch.empty(0, dtype=to_torch_type[dtype])
    return torch.sparse_coo_tensor(indices, values, check_invariants=False)


class _TorchIterator(DictIterator):
    """The base of DALI's iterators for PyTorch; subclasses may set `_kinds` before `__init__`."""

    _kinds: Sequence[str] = ()

    def _dicts(self, own: list[bool], mask_name: str | None) -> Dicts:
        kinds = self._kinds or [_DENSE] * len(self.output_map)
        return _TorchTensors(self.output_map, kinds, own, mask_name, self._all_pipelines)


def _checked_kinds(kinds: Sequence[str], outputs: int) -> list[str]:
    unknown = sorted(set(kinds) - {_DENSE, _LIST, _COO})
    if unknown or len(kinds) != outputs:
        raise IteratorError(
            "iterator: Only DENSE_TAG, SPARSE_LIST_TAG and SPARSE_COO_TAG are allowed in output_types, one for each of "
            f"the {outputs} outputs, got {kinds}"
        )
    return list(kinds)


class DALIGenericIterator(_TorchIterator):
    """Returns batches as a list with a dict of `torch.Tensor`s [N, ...] for each pipeline.

    Tensors are on the device of the data; the user may keep them and write to them. Where possible, they share memory with
    the compiled program's result, through DLPack.

    Args:
        pipelines: one pipeline, or several with the same batch size.
        output_map: a name for each output.
        size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch: see
            `jdali.iterator.DataIterator`.
        fill_last_batch: deprecated: True means `LastBatchPolicy.FILL`, False `LastBatchPolicy.PARTIAL`.
        dynamic_shape: has no effect, because batches may always differ in shape.
    """


class DALIClassificationIterator(ClassificationIterator, DALIGenericIterator):
    """Specializes `DALIGenericIterator` for two outputs, named "data" and "label".

    Args:
        pipelines, size, reader_name, auto_reset, fill_last_batch, dynamic_shape, last_batch_padded,
            last_batch_policy, prepare_first_batch: see `DALIGenericIterator`.
    """


class DALIRaggedIterator(_TorchIterator):
    """Iterates like `DALIGenericIterator`, but also supports outputs whose samples differ in size.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch: see `DALIGenericIterator`.
        output_types: a form for each output. `DENSE_TAG` returns one tensor, `SPARSE_LIST_TAG` a list with a tensor for each
            sample, and `SPARSE_COO_TAG` a sparse tensor, for samples with one axis. None means `DENSE_TAG` for all.
    """

    DENSE_TAG: ClassVar[str] = _DENSE
    SPARSE_LIST_TAG: ClassVar[str] = _LIST
    SPARSE_COO_TAG: ClassVar[str] = _COO

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        output_types: Sequence[str] | None = None,
        auto_reset: bool | str | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        if output_types is not None:
            self._kinds = _checked_kinds(output_types, len(output_map))
        super().__init__(
            pipelines, output_map, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch,
        )  # fmt: skip
