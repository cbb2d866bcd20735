"""Provides DALI's older interface: a TensorFlow operator that returns the next batch at each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from jdali.pipeline import Pipeline
from jdali.plugin.tf._batches import Outputs, on_host
from jdali.tensors import TensorList


def serialize_pipeline(pipeline: Pipeline) -> bytes:
    """Serializes a pipeline; raises a RuntimeError that mentions TensorFlow if this is not possible."""
    try:
        return pipeline.serialize()
    except RuntimeError as error:
        raise RuntimeError(
            "Error during pipeline initialization. Note that some operators (e.g. Python Operators) cannot be used with "
            "TensorFlow Dataset API and DALIIterator."
        ) from error


def DALIIteratorWrapper(
    pipeline: Pipeline | None = None,
    serialized_pipeline: bytes | None = None,
    sparse: Sequence[bool] = (),
    shapes: Sequence[Any] = (),
    dtypes: Sequence[Any] = (),
    batch_size: int = -1,
    prefetch_queue_depth: int | Mapping[str, int] = 2,
    exec_dynamic: bool | None = None,
    **kwargs: Any,
) -> list[Any]:
    """Returns the next batch of a pipeline: a `tf.Tensor` or `tf.SparseTensor` for each output.

    Prefer `DALIDataset`, which does more. In a `tf.function`, a call adds an operator that has its own pipeline and returns
    the next batch at each run. Equal eager calls share one pipeline and return its batches in turn.

    Args:
        pipeline: the pipeline; it is serialized, so it cannot contain callbacks or Python functions.
        serialized_pipeline: result of `Pipeline.serialize`, in place of `pipeline`.
        sparse: for each output, whether to return a `tf.SparseTensor`; missing entries mean False. An element's index is the
            number of its sample and the element's position in the sample. Samples may differ in shape.
        shapes: shape of each output with the batch axis; () accepts any shape. Without `batch_size`, the first shape
            determines the batch size.
        dtypes: a `tf.DType` for each output. If the output has a different type of the same size, its bits are reinterpreted.
        batch_size: number of samples; -1 takes it from `shapes`.
        prefetch_queue_depth: see `Pipeline`.
        exec_dynamic: without effect.
        kwargs: further arguments of DALI's operator. `num_threads` is 2 by default; all others have no effect.

    Raises:
        ValueError: neither `shapes` nor `batch_size` determines the size of a batch.
        RuntimeError: the pipeline cannot be serialized.
    """
    if len(shapes) == 0 and batch_size == -1:
        raise ValueError(
            "shapes and batch_size arguments cannot be empty, please provide at least one shape argument element with "
            "the BATCH size or set batch_size"
        )
    if serialized_pipeline is None:
        if pipeline is None:
            raise ValueError("DALIIterator: give it a pipeline or a serialized_pipeline")
        serialized_pipeline = serialize_pipeline(pipeline)
    flags = tuple(bool(flag) for flag in sparse) + (False,) * (len(dtypes) - len(sparse))
    depth = prefetch_queue_depth
    size = int(batch_size if batch_size != -1 else next(iter(shapes[0])))
    wanted = [
        None if flag or i >= len(shapes) or not len(shapes[i]) else tuple(shapes[i])
        for i, flag in enumerate(flags)
    ]
    return _run(
        serialized_pipeline, tuple(dtypes), tuple(wanted), flags, size, kwargs.get("num_threads", 2),
        max(depth.values()) if isinstance(depth, Mapping) else depth,
    )  # fmt: skip


def DALIIterator() -> Callable[..., list[Any]]:
    """Returns `DALIIteratorWrapper`."""
    return DALIIteratorWrapper


def DALIRawIterator() -> Callable[..., list[Any]]:
    """Returns `DALIIteratorWrapper` without the argument `pipeline`, for serialized pipelines."""
    return functools.partial(DALIIteratorWrapper, None)


def _run(
    serialized: bytes,
    dtypes: tuple[Any, ...],
    shapes: tuple[Any, ...],
    sparse: tuple[bool, ...],
    *options: int,
) -> list[Any]:
    arrays: list[Any] = []
    for dtype, flag in zip(dtypes, sparse, strict=True):
        arrays += [tf.int64, dtype, tf.int64] if flag else [dtype]
    make = _kernel if tf.executing_eagerly() else _Kernel
    with on_host():
        results = tf.numpy_function(make(serialized, dtypes, shapes, sparse, *options), [], arrays)
    # TensorFlow returns a single tensor without a list.
    tensors = iter(results if isinstance(results, (list, tuple)) else [results])
    outputs = []
    for flag, shape in zip(sparse, shapes, strict=True):
        tensor = next(tensors)
        if flag:
            outputs.append(tf.SparseTensor(tensor, next(tensors), next(tensors)))
        else:
            outputs.append(tensor if shape is None else tf.ensure_shape(tensor, shape))
    return outputs


class _Kernel:
    """Returns the next batch of a pipeline at each call: one array for a dense output, three for a sparse output."""

    def __init__(
        self, serialized: bytes, dtypes: Sequence[Any], shapes: Sequence[Any], sparse: Sequence[bool],
        batch_size: int, num_threads: int, depth: int,
    ):  # fmt: skip
        self._pipeline = Pipeline.deserialize(
            serialized, batch_size=batch_size, num_threads=num_threads, prefetch_queue_depth=depth
        )
        self._sparse = sparse
        self._outputs = Outputs(dtypes, shapes, batch_size, on_device=True, by_size=True)

    def __call__(self) -> list[np.ndarray]:
        batches = self._pipeline.run()
        if len(batches) != len(self._sparse):
            raise ValueError(
                f"DALIIterator: the pipeline has {len(batches)} outputs, dtypes names {len(self._sparse)}"
            )
        arrays: list[np.ndarray] = []
        for i, (batch, flag) in enumerate(zip(batches, self._sparse, strict=True)):
            if flag:
                indices, values, sizes = _coordinates(batch)
                arrays += [indices, self._outputs.typed(i, values), sizes]
            else:
                arrays.append(self._outputs.array(i, batch))
        return arrays


_kernel = functools.lru_cache(maxsize=8)(_Kernel)  # TensorFlow also caches the kernels of equal eager calls


def _coordinates(batch: TensorList) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Converts a batch to indices (int64 [elements, 1 + ndim]), values ([elements]) and sizes (int64 [1 + ndim])."""
    samples = [np.asarray(sample) for sample in batch.as_cpu().to_samples()]
    indices = [
        np.column_stack([np.full(sample.size, i), np.argwhere(np.ones(sample.shape, bool))])
        for i, sample in enumerate(samples)
    ]
    extents = batch.spec.extents
    return (
        np.concatenate(indices).astype(np.int64),
        np.concatenate([sample.ravel() for sample in samples]),
        np.array([len(samples), *extents.max(axis=0, initial=0)], np.int64),
    )


def dataset_compatible_tensorflow() -> bool:
    """Returns True, because any TensorFlow that can be imported supports `DALIDataset`."""
    return True


def dataset_inputs_compatible_tensorflow() -> bool:
    """Returns True, because any TensorFlow that can be imported supports `experimental.DALIDatasetWithInputs`."""
    return True


def dataset_distributed_compatible_tensorflow() -> bool:
    """Returns True, because any TensorFlow that can be imported supports these data sets in `tf.distribute`."""
    return True
