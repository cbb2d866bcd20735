"""Iterators under DALI's names: for each pipeline a dict of `torch.Tensor`s; the work is `jdali.iterator`'s."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from jax.sharding import Sharding

from jdali._batches.placement import BatchSplit
from jdali.iterator import DataIterator, LastBatchPolicy
from jdali.iterator._assemble import Assembler
from jdali.pipeline import Pipeline
from jdali.plugin.pytorch._torch import torch
from jdali.plugin.pytorch.torch_utils import as_torch, dense_tensors, own_outputs
from jdali.tensors import TensorList

_DENSE, _LIST, _COO = "dense", "sparse_list", "sparse_coo"


class _Tensors(Assembler):
    """Makes a dict of tensors for each pipeline.

    Args:
        names: of the outputs.
        kinds: of the outputs: "dense", "sparse_list" or "sparse_coo".
        own: of the outputs: whether a batch's memory is of no use to anybody else.
        mask_name: name of the mask; None: there is none.
        all_pipelines: also pipelines that have no sample left in the epoch get a dict.
    """

    def __init__(
        self, names: Sequence[str], kinds: Sequence[str], own: Sequence[bool], mask_name: str | None,
        all_pipelines: bool,
    ):  # fmt: skip
        super().__init__(names, mask_name=mask_name)
        self._kinds, self._own, self._all_pipelines = tuple(kinds), tuple(own), all_pipelines

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
                result.append(self._of_pipeline(batches, picked))
                if self.mask_name is not None:
                    result[-1][self.mask_name] = torch.from_numpy(mask[start : start + count].copy())
            start += count
        return result

    def _of_pipeline(self, batches: Sequence[TensorList], rows: np.ndarray | None) -> dict[str, Any]:
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
                tensors[name] = samples if kind == _LIST else _coo(name, samples)
        return tensors


def _coo(name: str, samples: Sequence[torch.Tensor]) -> torch.Tensor:
    """Samples with one axis as a sparse tensor: value j of sample i has the index (i, j)."""
    if any(sample.ndim != 1 for sample in samples):
        raise ValueError(
            f"iterator: output {name!r} is wanted as {_COO}, so its samples must have one axis, not "
            f"{samples[0].ndim}"
        )
    places = [(i, j) for i, sample in enumerate(samples) for j in range(len(sample))]
    indices = torch.tensor(places, dtype=torch.int64).reshape(-1, 2).T
    return torch.sparse_coo_tensor(indices, torch.hstack(list(samples)), check_invariants=False)


class _TorchIterator(DataIterator):
    """What DALI's iterators for PyTorch have in common.

    Args:
        kinds: of the outputs, see `_Tensors`; None: all are dense.
        fill_last_batch: in place of `last_batch_policy`: True is FILL, False is PARTIAL.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int,
        reader_name: str | None,
        kinds: Sequence[str] | None,
        auto_reset: bool | str | None,
        fill_last_batch: bool | None,
        last_batch_padded: bool,
        last_batch_policy: LastBatchPolicy,
        prepare_first_batch: bool,
    ):
        if fill_last_batch is not None:
            warnings.warn("fill_last_batch is deprecated, use last_batch_policy", stacklevel=3)
            last_batch_policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        self._kinds = list(kinds) if kinds is not None else [_DENSE] * len(output_map)
        unknown = sorted(set(self._kinds) - {_DENSE, _LIST, _COO})
        if unknown or len(self._kinds) != len(output_map):
            raise ValueError(
                f"iterator: output_types needs one of DENSE_TAG, SPARSE_LIST_TAG and SPARSE_COO_TAG for each of "
                f"the {len(output_map)} outputs, got {kinds}"
            )
        self._all_pipelines = reader_name is not None
        super().__init__(
            pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch,
        )  # fmt: skip

    def _assembler(
        self, sharding: Sharding | Mapping[str, Sharding] | None, padded: Sequence[str], mask_name: str | None,
        leading: bool,
    ) -> Assembler:  # fmt: skip
        own = own_outputs(self._pipelines)
        own += [False] * (len(self.output_map) - len(own))
        return _Tensors(self.output_map, self._kinds, own, mask_name, self._all_pipelines)

    def __next__(self) -> list[dict[str, Any]]:  # type: ignore[override]
        return super().__next__()  # type: ignore[return-value]

    def next(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """The next batch; the same as `next(iterator)`."""
        return self.__next__()


class DALIGenericIterator(_TorchIterator):
    """Goes through the batches of pipelines: for each pipeline a dict of `torch.Tensor`s [N, ...].

    Tensors are on the device of the data, and the user's to keep and to write to. They share memory with
    the compiled program's result, through DLPack, where that is possible.

    Args:
        pipelines: one, or several of the same batch size.
        output_map: a name for each output.
        size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch: as for
            `jdali.iterator.DataIterator`.
        fill_last_batch: deprecated: True is `LastBatchPolicy.FILL`, False is `LastBatchPolicy.PARTIAL`.
        dynamic_shape: without effect: batches may differ in shape.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
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
            pipelines, output_map, size, reader_name, None, auto_reset, fill_last_batch, last_batch_padded,
            last_batch_policy, prepare_first_batch,
        )  # fmt: skip


class DALIClassificationIterator(DALIGenericIterator):
    """A `DALIGenericIterator` whose outputs are named "data" and "label".

    Args:
        pipelines, size, reader_name, auto_reset, fill_last_batch, dynamic_shape, last_batch_padded,
            last_batch_policy, prepare_first_batch: as for `DALIGenericIterator`.
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


class DALIRaggedIterator(_TorchIterator):
    """As `DALIGenericIterator`, also for outputs whose samples differ in size.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch: as for `DALIGenericIterator`.
        output_types: for each output `DENSE_TAG`: one tensor; `SPARSE_LIST_TAG`: a list of a tensor for each
            sample; `SPARSE_COO_TAG`: a sparse tensor, for samples with one axis. None: all are dense.
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
        super().__init__(
            pipelines, output_map, size, reader_name, output_types, auto_reset, fill_last_batch,
            last_batch_padded, last_batch_policy, prepare_first_batch,
        )  # fmt: skip
