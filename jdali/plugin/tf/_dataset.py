"""`DALIDataset`: a pipeline as a `tf.data.Dataset`."""

from __future__ import annotations

import warnings
from typing import Any

from jdali._pipeline import outputs_of
from jdali.pipeline import Pipeline
from jdali.plugin.tf._batches import Batches, InputFeed, Outputs
from jdali.plugin.tf._inputs import external_sources, matched_inputs
from jdali.plugin.tf._tensorflow import on_host, tf


class _PipelineDataset(tf.data.Dataset):  # type: ignore[misc]
    """Base of both data sets: the arguments are those of `DALIDataset`."""

    def __init__(
        self,
        pipeline: Pipeline,
        output_dtypes: object,
        output_shapes: object,
        fail_on_device_mismatch: bool,
        inputs: dict[str, InputFeed],
        *,
        batch_size: int,
        depth: int,
        dtypes: object,
        shapes: object,
        **options: object,
    ):
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
        outputs = Outputs(types, wanted, batch_size, not fail_on_device_mismatch or _is_on_gpu())
        batches = Batches(
            pipeline, outputs, inputs, depth, batch_size=batch_size, prefetch_queue_depth=depth, **options
        )
        specs = tuple(tf.TensorSpec(shape, dtype) for shape, dtype in zip(static_shapes, types, strict=True))
        with on_host():
            self._batches = tf.data.Dataset.from_generator(batches, output_signature=specs)
        super().__init__(self._batches._variant_tensor)

    def _inputs(self) -> list[Any]:
        return [self._batches]

    @property
    def element_spec(self) -> Any:
        """A `tf.TensorSpec` for each output, as a tuple."""
        return self._batches.element_spec


class DALIDataset(_PipelineDataset):
    """The batches of a pipeline as a `tf.data.Dataset`: tuples of a tensor [N, ...] for each output.

    It ends only where an iterator over the pipeline would, so never for readers: `take`, or Keras' `steps_per_epoch`, says
    how long an epoch is. Each iterator begins from the beginning of the data.

    Args:
        pipeline: what is done. The data set works with copies of it, with the options below; the seed is the same.
        output_dtypes: a `tf.DType`, or a tuple of one for each output.
        output_shapes: a shape with the batch axis, or a tuple of one for each output; in it, or instead of it, None is
            any size. Axes of one element may be left out, with `batch_size=1` also the batch axis. None: any shapes.
        fail_on_device_mismatch: what is on an accelerator when it leaves the pipeline is an error, unless the data set
            was made in a `tf.device` of a GPU; False: it is copied. Data sets of TensorFlow are in host memory.
        batch_size: samples in a batch; that of the pipeline does not count.
        num_threads: see `Pipeline`; that of the pipeline does not count.
        device_id: without effect, see `Pipeline`.
        exec_separated: the larger of `cpu_prefetch_queue_depth` and `gpu_prefetch_queue_depth` counts.
        exec_dynamic: without effect.
        prefetch_queue_depth: batches made ahead.
        dtypes, shapes: deprecated names of `output_dtypes` and `output_shapes`; lists are taken.

    Raises:
        ValueError: the pipeline has external sources, which only `experimental.DALIDatasetWithInputs` takes, or the
            arguments do not fit to it. When TensorFlow asks for batches: InvalidArgumentError, if they are not what was
            expected.
        TypeError: `output_dtypes` is something else.
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
        if external_sources(pipeline):
            raise ValueError(
                "DALIDataset got a DALI pipeline containing External Source operator nodes. External Source nodes can be "
                "used to express placeholders for tf.data.Dataset inputs to DALI or to run user-provided Python code via "
                "`source` parameter. Support for Dataset inputs and External Source's `source` is allowed only in "
                "'experimental.DALIDatasetWithInputs'."
            )
        super().__init__(
            pipeline, output_dtypes, output_shapes, fail_on_device_mismatch, {}, batch_size=batch_size,
            num_threads=num_threads, device_id=device_id, dtypes=dtypes, shapes=shapes,
            depth=_depth(exec_separated, prefetch_queue_depth, cpu_prefetch_queue_depth, gpu_prefetch_queue_depth),
        )  # fmt: skip


class DALIDatasetWithInputs(_PipelineDataset):
    """As `DALIDataset`, for pipelines with external sources: data sets of TensorFlow feed them.

    It ends with the first input that does. Samples that do not fill a batch are left out. External sources with a
    `source` have their data from there.

    Args:
        pipeline, output_dtypes, output_shapes, fail_on_device_mismatch, batch_size, num_threads, device_id,
            exec_separated, exec_dynamic, prefetch_queue_depth, cpu_prefetch_queue_depth, gpu_prefetch_queue_depth, dtypes,
            shapes: as for `DALIDataset`.
        input_datasets: for each external source without a `source` of its own, by its `name`, a `tf.data.Dataset` of
            single samples, or an `Input`.

    Raises:
        TypeError: as for `DALIDataset`, or `input_datasets` is something else.
        ValueError: as for `DALIDataset`, or inputs and external sources do not match.
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
        super().__init__(
            pipeline, output_dtypes, output_shapes, fail_on_device_mismatch, matched_inputs(pipeline, input_datasets),
            batch_size=batch_size, num_threads=num_threads, device_id=device_id, dtypes=dtypes, shapes=shapes,
            depth=_depth(exec_separated, prefetch_queue_depth, cpu_prefetch_queue_depth, gpu_prefetch_queue_depth),
        )  # fmt: skip


def _depth(separated: bool, depth: int, cpu: int, gpu: int) -> int:
    """Returns the number of batches made ahead: of two queues the larger counts."""
    return max(cpu, gpu) if separated else depth


def _renamed(value: object, deprecated: object, name: str) -> object:
    """Returns the value of `output_<name>`, formerly `name`."""
    if deprecated is None:
        return value
    if value is not None:
        raise ValueError(
            f"Usage of `{name}` is deprecated in favor of `output_{name}`. Both arguments were provided, but only "
            f"`output_{name}` should be provided."
        )
    warnings.warn(
        f"Use of argument `{name}` is deprecated. Please use `output_{name}` instead. `output_{name}` should be provided "
        "as a tuple or a single value.",
        stacklevel=4,
    )
    return tuple(deprecated) if isinstance(deprecated, list) else deprecated


def _is_on_gpu() -> bool:
    """Returns True if TensorFlow puts arrays made here on a GPU."""
    return "GPU" in tf.constant(0).device
