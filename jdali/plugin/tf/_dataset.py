"""Defines `DALIDataset`, which makes a pipeline a `tf.data.Dataset`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from jdali._pipeline import outputs_of
from jdali._system.tracebacks import warn_user
from jdali.pipeline import Pipeline
from jdali.plugin.tf._batches import Batches, Outputs, on_host
from jdali.plugin.tf._inputs import Input, external_sources, matched_inputs


class DALIDataset(tf.data.Dataset):  # type: ignore[misc]
    """Makes a pipeline a `tf.data.Dataset`; its elements are tuples with a tensor [N, ...] for each output.

    The data set ends only where an iterator over the pipeline would end; with readers it never ends. So limit an epoch
    with `take`, or with Keras' `steps_per_epoch`. Each iterator starts at the beginning of the data.

    Args:
        pipeline: the pipeline. The data set uses copies of it, with the options below and the same seed.
        output_dtypes: a `tf.DType`, or a tuple with a `tf.DType` for each output.
        output_shapes: a shape with the batch axis, or a tuple with a shape for each output. None accepts any
            size if it replaces an axis's size, and any shape if it replaces a shape or the tuple. A shape may omit axes
            of size 1; with `batch_size=1`, also the batch axis.
        fail_on_device_mismatch: True raises an error for outputs on an accelerator, unless the data set was made in a
            `tf.device` of a GPU. False copies them to host memory, where TensorFlow's data sets are.
        batch_size: number of samples in a batch; replaces the pipeline's.
        num_threads: see `Pipeline`; replaces the pipeline's.
        device_id: without effect, see `Pipeline`.
        exec_separated: prefetch as many batches as the larger of `cpu_prefetch_queue_depth` and `gpu_prefetch_queue_depth`.
        exec_dynamic: without effect.
        prefetch_queue_depth: number of batches to prefetch.
        dtypes, shapes: deprecated names of `output_dtypes` and `output_shapes`; the deprecated names also accept lists.

    Raises:
        ValueError: the pipeline has external sources, which only `experimental.DALIDatasetWithInputs` supports, or the
            arguments do not fit the pipeline. While iterating, TensorFlow raises InvalidArgumentError for batches that do
            not fit the declared types and shapes.
        TypeError: `output_dtypes` is neither a `tf.DType` nor a tuple.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        output_dtypes: object = None,
        output_shapes: object = None,
        fail_on_device_mismatch: bool = True,
        *,
        batch_size: int = 1,
        num_threads: int = 4,
        device_id: int | None = 0,
        exec_separated: bool = False,
        exec_dynamic: bool = False,
        prefetch_queue_depth: int = 2,
        cpu_prefetch_queue_depth: int = 2,
        gpu_prefetch_queue_depth: int = 2,
        dtypes: object = None,
        shapes: object = None,
    ):
        inputs = self._feeds(pipeline)
        depth = prefetch_queue_depth
        if exec_separated:
            depth = max(cpu_prefetch_queue_depth, gpu_prefetch_queue_depth)
        output_shapes = _renamed(output_shapes, shapes, "shapes")
        output_dtypes = _renamed(output_dtypes, dtypes, "dtypes")
        is_one = isinstance(output_dtypes, tf.DType)
        types = (output_dtypes,) if is_one else output_dtypes
        if not isinstance(types, tuple) or not all(isinstance(dtype, tf.DType) for dtype in types):
            raise TypeError(
                "`output_dtypes` should be provided as single tf.DType value or a tuple of tf.DType values. Got value "
                f"`{output_dtypes}` of the type `{type(output_dtypes)}`."
            )
        if output_shapes is None:
            output_shapes = (None,) * len(types)
        elif is_one:
            output_shapes = (output_shapes,)
        if not isinstance(output_shapes, tuple) or len(output_shapes) != len(types):
            raise ValueError(
                f"`output_shapes` must be a tuple of a shape for each of the {len(types)} `output_dtypes`, got "
                f"{output_shapes}"
            )
        static_shapes = tuple(map(tf.TensorShape, output_shapes))
        count = len(outputs_of(pipeline))
        if count != len(types):
            raise ValueError(f"`output_dtypes` names {len(types)} outputs, the pipeline has {count}")
        wanted = [None if shape.rank is None else tuple(shape.as_list()) for shape in static_shapes]
        on_device = not fail_on_device_mismatch or "GPU" in tf.constant(0).device
        outputs = Outputs(types, wanted, batch_size, on_device)
        batches = Batches(
            pipeline, outputs, inputs, depth, batch_size=batch_size, prefetch_queue_depth=depth,
            num_threads=num_threads, device_id=device_id,
        )  # fmt: skip
        specs = tuple(tf.TensorSpec(shape, dtype) for shape, dtype in zip(static_shapes, types, strict=True))
        with on_host():
            self._batches = tf.data.Dataset.from_generator(batches, output_signature=specs)
        super().__init__(self._batches._variant_tensor)

    def _feeds(self, pipeline: Pipeline) -> dict[str, Input]:
        """Returns what feeds the external sources, by name."""
        if external_sources(pipeline):
            raise ValueError(
                "DALIDataset got a DALI pipeline containing External Source operator nodes. External Source nodes can be "
                "used to express placeholders for tf.data.Dataset inputs to DALI or to run user-provided Python code via "
                "`source` parameter. Support for Dataset inputs and External Source's `source` is allowed only in "
                "'experimental.DALIDatasetWithInputs'."
            )
        return {}

    def _inputs(self) -> list[Any]:
        return [self._batches]

    @property
    def element_spec(self) -> Any:
        return self._batches.element_spec


class DALIDatasetWithInputs(DALIDataset):
    """Extends `DALIDataset` to pipelines with external sources, which TensorFlow data sets feed.

    It ends as soon as one input ends, and drops an incomplete last batch. External sources with a `source` need no input.

    Args:
        pipeline, output_dtypes, output_shapes, fail_on_device_mismatch, batch_size, num_threads, device_id,
            exec_separated, exec_dynamic, prefetch_queue_depth, cpu_prefetch_queue_depth, gpu_prefetch_queue_depth, dtypes,
            shapes: see `DALIDataset`.
        input_datasets: a data set for each external source without a `source`, by the source's name: a `tf.data.Dataset` of
            single samples, or an `Input`.

    Raises:
        TypeError: `input_datasets` is not a dict of data sets or `Input`s; or see `DALIDataset`.
        ValueError: inputs and external sources do not match; or see `DALIDataset`.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        output_dtypes: object = None,
        output_shapes: object = None,
        fail_on_device_mismatch: bool = True,
        *,
        input_datasets: object = None,
        batch_size: int = 1,
        num_threads: int = 4,
        device_id: int | None = 0,
        exec_separated: bool = False,
        exec_dynamic: bool = False,
        prefetch_queue_depth: int = 2,
        cpu_prefetch_queue_depth: int = 2,
        gpu_prefetch_queue_depth: int = 2,
        dtypes: object = None,
        shapes: object = None,
    ):
        self._input_datasets = input_datasets
        super().__init__(
            pipeline, output_dtypes, output_shapes, fail_on_device_mismatch, batch_size=batch_size,
            num_threads=num_threads, device_id=device_id, exec_separated=exec_separated, exec_dynamic=exec_dynamic,
            prefetch_queue_depth=prefetch_queue_depth, cpu_prefetch_queue_depth=cpu_prefetch_queue_depth,
            gpu_prefetch_queue_depth=gpu_prefetch_queue_depth, dtypes=dtypes, shapes=shapes,
        )  # fmt: skip

    def _feeds(self, pipeline: Pipeline) -> dict[str, Input]:
        return matched_inputs(pipeline, self._input_datasets)


def _renamed(value: object, deprecated: object, name: str) -> object:
    """Returns `value`. If the argument was passed under its old name instead, returns `deprecated` with a warning."""
    if deprecated is None:
        return value
    if value is not None:
        raise ValueError(
            f"Usage of `{name}` is deprecated in favor of `output_{name}`. Both arguments were provided, but only "
            f"`output_{name}` should be provided."
        )
    warn_user(
        f"Use of argument `{name}` is deprecated. Please use `output_{name}` instead. `output_{name}` should be provided "
        "as a tuple or a single value."
    )
    return tuple(deprecated) if isinstance(deprecated, list) else deprecated
