"""Collects the samples of a worker into batches; returns picklable references to what the pipeline will make of them."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Sequence
from typing import Any

from torch.utils.data import get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from jdali._batches import data_array
from jdali.plugin.pytorch.experimental.proxy._mailbox import Mailbox
from jdali.plugin.pytorch.experimental.proxy._requests import Ticket


class DALIPipelineRunRef:
    """Refers to a run of the pipeline on a batch of samples.

    Args:
        batch_id: the worker's number (in the main process, the thread's id), and the number of the batch in the worker.

    Attributes:
        call_args: {input: values of all samples}; empty once the inputs were sent.
        is_complete: True if no more samples will be added.
        is_scheduled: True if the inputs were sent to the server.
        ticket: the server's id of the run, once it is scheduled.
        outputs: a tensor for each output of the pipeline, once the main process has taken the results.
    """

    def __init__(self, batch_id: tuple[int, int]):
        self.batch_id = batch_id
        self.call_args: dict[str, list[Any]] = {}
        self.is_complete = self.is_scheduled = False
        self.ticket: Ticket | None = None
        self.outputs: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        count = len(next(iter(self.call_args.values()), ()))
        state = "scheduled" if self.is_scheduled else "complete" if self.is_complete else "open"
        return (
            f"DALIPipelineRunRef(batch_id={self.batch_id}, {state}, {count} samples of {[*self.call_args]})"
        )


class DALIOutputSampleRef:
    """Refers to a sample of one output of the pipeline; a proxy returns such references.

    Args:
        proxy: the proxy that returned this reference.
        pipe_run_ref: the run of the batch that the sample was added to.
        output_idx: number of the output.
        sample_idx: number of the sample in the run.
    """

    def __init__(self, proxy: _DALIProxy, pipe_run_ref: DALIPipelineRunRef, output_idx: int, sample_idx: int):
        self.proxy, self.pipe_run_ref = proxy, pipe_run_ref
        self.output_idx, self.sample_idx = output_idx, sample_idx

    def __repr__(self) -> str:
        return (
            f"DALIOutputSampleRef({self.pipe_run_ref}, output_idx={self.output_idx}, "
            f"sample_idx={self.sample_idx})"
        )


class DALIOutputBatchRef:
    """Refers to one output of a run of the pipeline; collating references to samples makes such a reference.

    Args:
        pipe_run_ref: the run.
        output_idx: number of the output.
    """

    def __init__(self, pipe_run_ref: DALIPipelineRunRef, output_idx: int):
        self.pipe_run_ref, self.output_idx = pipe_run_ref, output_idx

    def __repr__(self) -> str:
        return f"DALIOutputBatchRef({self.pipe_run_ref}, output_idx={self.output_idx})"


class _DALIProxy:
    """Transforms samples by the pipeline of a `DALIServer`, from any process.

    Args:
        signature: parameters are the pipeline's inputs; the return annotation is a tuple with an entry for each output.
        deterministic: keep a batch's inputs in its reference until the main process requests the results.
    """

    def __init__(self, signature: inspect.Signature, mailbox: Mailbox, deterministic: bool):
        self.__signature__, self._mailbox, self._deterministic = signature, mailbox, deterministic
        self._local = _Local()

    def __reduce__(self) -> Any:
        return type(self), (self.__signature__, self._mailbox, self._deterministic)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Adds a sample to the current batch of the calling worker.

        Args:
            args, kwargs: a value for each input of the pipeline: an array of NumPy or JAX, a tensor, a Pillow image, or a
                number. Pass several inputs by name. Do not change a value before the batch is collated.

        Returns: a `DALIOutputSampleRef`, or a tuple of them if the pipeline has several outputs.

        Raises:
            ValueError: the arguments are not the inputs of the pipeline.
            TypeError: a value cannot be converted to an array.
        """
        try:
            inputs = self.__signature__.bind(*args, **kwargs).arguments
        except TypeError as error:
            described = [
                *(type(v).__name__ for v in args),
                *(f"{k}={type(v).__name__}" for k, v in kwargs.items()),
            ]
            raise ValueError(
                f"proxy: {error}. Expected signature is: {self.__signature__}; got: ({', '.join(described)})"
            ) from None
        arrays = {name: data_array(value) for name, value in inputs.items()}
        run = self._local.open_run()
        for name, array in arrays.items():
            run.call_args.setdefault(name, []).append(array)
        position = len(run.call_args[next(iter(arrays))]) - 1
        outputs = len(self.__signature__.return_annotation)
        refs = tuple(DALIOutputSampleRef(self, run, output, position) for output in range(outputs))
        return refs[0] if outputs == 1 else refs

    def _batch(self, run: DALIPipelineRunRef, positions: tuple[int, ...]) -> DALIPipelineRunRef:
        """Returns the batch of the samples at `positions` of a run. All outputs of these samples share one batch."""
        run.is_complete = True  # so the next sample begins another run
        known = self._local.batches_of(run)
        if positions not in known:
            known[positions] = batch = DALIPipelineRunRef(run.batch_id)
            batch.call_args = {k: [values[i] for i in positions] for k, values in run.call_args.items()}
            batch.is_complete = True
        return known[positions]

    def _schedule_batch(self, batch: DALIPipelineRunRef) -> None:
        if not batch.is_scheduled:
            batch.ticket = self._mailbox.send(batch.call_args)
            batch.is_scheduled, batch.call_args = True, {}


class _Local(threading.local):
    """The batches that a thread is collecting; a forked process starts without batches."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._run: DALIPipelineRunRef | None = None
        self._batches: dict[tuple[int, ...], DALIPipelineRunRef] = {}
        self._count = 0

    def open_run(self) -> DALIPipelineRunRef:
        if self._process != os.getpid():
            self.__init__()  # type: ignore[misc]
        if self._run is None or self._run.is_complete:
            info = get_worker_info()
            worker = threading.get_ident() if info is None else info.id
            self._run, self._batches = DALIPipelineRunRef((worker, self._count)), {}
            self._count += 1
        return self._run

    def batches_of(self, run: DALIPipelineRunRef) -> dict[tuple[int, ...], DALIPipelineRunRef]:
        if run is not self._run:
            raise RuntimeError(
                "proxy: the samples of a batch must be collated by the thread that gave them to the proxy, before "
                "it gives it those of the next"
            )
        return self._batches


def _collate_dali_output_sample_ref_fn(
    samples: Sequence[DALIOutputSampleRef], *, collate_fn_map: object = None
) -> DALIOutputBatchRef:
    """Collects samples into a batch, and sends it to the server unless the server is deterministic.

    PyTorch's `default_collate` calls this function for results of a proxy; the user's `collate_fn` may call it, too.

    Args:
        samples: references to one or more samples of one output; the pipeline does not run on samples that are left out.
        collate_fn_map: without effect.

    Raises:
        RuntimeError: the samples differ in proxy, batch or output.
    """
    first = samples[0]
    for sample in samples:
        if (
            sample.proxy is not first.proxy
            or sample.pipe_run_ref is not first.pipe_run_ref
            or sample.output_idx != first.output_idx
        ):
            raise RuntimeError(
                "proxy: All samples should belong to the same batch, and to one output of one proxy"
            )
    proxy = first.proxy
    batch = proxy._batch(first.pipe_run_ref, tuple(sample.sample_idx for sample in samples))
    if not proxy._deterministic:
        proxy._schedule_batch(batch)
    return DALIOutputBatchRef(batch, first.output_idx)


default_collate_fn_map[DALIOutputSampleRef] = _collate_dali_output_sample_ref_fn
