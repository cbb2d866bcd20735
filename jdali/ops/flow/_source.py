"""The definition of `external_source`. The engine runs it, because only the engine determines the order of batches."""

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
    """Takes data from outside of the pipeline: from a callback, an iterable, or `Pipeline.feed_input`.

    Args:
        source: a callable (without argument, or with the batch's number, a `BatchInfo` or a `SampleInfo`) or an
            iterable; None: data come from `feed_input`. An object that is both is iterated over.
        num_outputs: number of outputs, 1 or more. The source returns them as a tuple, even if there is only one. None: the source
            returns one output, without a tuple.
        cycle: behaviour at the end of an iterable. "quiet" or True: begin again. "raise": raise StopIteration, then begin
            again. "no", False or None: stay at the end, also after `Pipeline.reset`.
        layout: layout of the samples, one for all outputs or a list with one per output, which may leave out the last outputs;
            None: the layout of the source's TensorLists. A batch whose layout differs from the previous batch's raises
            an error.
        dtype: type that the samples must have, one or a list like `layout`; None: as in the first batch.
        ndim: number of axes that the samples must have, one or a list like `layout`; None: as in the first batch.
        cuda_stream: without effect.
        use_copy_kernel: without effect.
        blocking: without effect: `run` raises an error if no data have been fed.
        batch: True or None: the source returns batches; False: single samples.
        repeat_last: return the last batch fed with `feed_input` again until the next batch is fed.
        parallel: run the callback in worker processes, see `py_num_workers` of `Pipeline`. The source must be an iterable,
            which one worker iterates over, or a callable with an argument (see `source`).
        no_copy: do not copy data fed with `feed_input`; they must not change until the batch is made. Data of
            callbacks and iterables are always copied.
        prefetch_queue_depth: with `parallel`: number of batches that workers make in advance; None: 1.
        batch_info: a batch callback gets a `BatchInfo` in place of the batch's number.
        bytes_per_sample_hint: with `parallel`: shared memory to allocate for each sample, bytes, one number per output.
            It grows if needed. None: the size of the first samples.
        random_access: `source` has `__len__` and `__getitem__`, and its elements are samples. The call then adds
            `readers.dataset` instead, and takes that reader's arguments, such as `random_shuffle` and `num_shards`.
            None: True for a source that is neither callable nor iterable. DALI has no such argument.

    Example: numbers = fn.external_source(lambda sample: np.float32([sample.idx_in_epoch, 0.5]), batch=False)
    """
