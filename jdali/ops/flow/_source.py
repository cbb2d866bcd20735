"""The record of `external_source`; the engine runs it, since it owns the order of batches."""

from __future__ import annotations

from jdali._operators.record import Static, reader


@reader(name="external_source")
def external_source(
    *,
    source: Static[object] = None,
    num_outputs: Static[int | None] = None,
    cycle: Static[bool | str | None] = None,
    layout: Static[str | tuple[str, ...] | None] = None,
    dtype: Static[object] = None,
    ndim: Static[int | tuple[int, ...] | None] = None,
    cuda_stream: Static[object] = None,
    use_copy_kernel: Static[bool | None] = None,
    blocking: Static[bool] = False,
    batch: Static[bool | None] = None,
    repeat_last: Static[bool] = False,
    parallel: Static[bool] = False,
    no_copy: Static[bool] = False,
    prefetch_queue_depth: Static[int | None] = None,
    batch_info: Static[bool] = False,
    bytes_per_sample_hint: Static[int | tuple[int, ...] | None] = None,
    random_access: Static[bool | None] = None,
) -> None:
    """Takes data from outside of the pipeline: a callback, an iterable, or `Pipeline.feed_input`.

    Args:
        source: a callable (taking nothing, or the batch's number, a `BatchInfo` or `SampleInfo`) or an
            iterable; None: the data comes from `feed_input`.
        num_outputs: number of outputs that the source gives as a tuple, also of one; None: one, bare.
        cycle: "quiet" or True: an iterable begins again at its end; "raise": it does after a
            StopIteration; "no", False or None: it stays at its end, also after `Pipeline.reset`.
        layout: layout of the samples, one for each output or one for all; None: that of a TensorList. Another one
            than that of the batch before raises.
        dtype: type that the samples must have; None: that of the first batch.
        ndim: number of axes that the samples must have; None: that of the first batch.
        cuda_stream: without effect.
        use_copy_kernel: without effect.
        blocking: without effect: `run` on a pipeline that was not fed raises.
        batch: the source gives batches (True) or single samples (False); None: True.
        repeat_last: a batch fed with `feed_input` serves until the next one comes.
        parallel: the callback runs in worker processes, see `py_num_workers` of `Pipeline`; it must take an
            argument (the number of the batch, a `BatchInfo` or a `SampleInfo`) or be an iterable, which one worker
            goes through.
        no_copy: what is fed with `feed_input` is not copied: it must not change until the batch was made. What
            callbacks and iterables give is always copied.
        prefetch_queue_depth: with `parallel`: batches that the workers are asked for in advance; None: 1.
        batch_info: a batch callback gets a `BatchInfo` in place of the batch's number.
        bytes_per_sample_hint: with `parallel`: room to make in shared memory for each sample, bytes, one number for each
            output; it is enlarged where that is not enough. None: what the first samples need.
        random_access: `source` has `__len__` and `__getitem__`, and each of its elements is a sample, which is asked for by
            its index: this is `readers.dataset` then, and takes the arguments of it, such as `random_shuffle` and
            `num_shards`. None: so it is with what is neither callable nor iterable. DALI has no such argument.

    Example: numbers = fn.external_source(lambda sample: np.float32([sample.idx_in_epoch, 0.5]), batch=False)
    """
