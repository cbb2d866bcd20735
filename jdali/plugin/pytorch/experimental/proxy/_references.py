"""Defines picklable references to samples and batches that the pipeline has not made yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jdali.plugin.pytorch.experimental.proxy._proxy import _DALIProxy


class Ticket(NamedTuple):
    """Identifies a batch that was sent to a server.

    Attributes:
        server: address of the server.
        source: id of the sender, a thread of a process.
        number: number of the batch among the batches of its source, starting at 0.
    """

    server: str
    source: str
    number: int


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
