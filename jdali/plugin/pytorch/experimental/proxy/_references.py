"""References to samples and batches that the pipeline has not made yet. All of it can be pickled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jdali.plugin.pytorch.experimental.proxy._proxy import _DALIProxy


class Ticket(NamedTuple):
    """Identifies a batch that was sent to a server.

    Attributes:
        server: the server's address.
        source: the sender: one thread of one process.
        number: of the batch, among those of its source, from 0.
    """

    server: str
    source: str
    number: int


class DALIPipelineRunRef:
    """Stands for a run of the pipeline, on samples that were put together to a batch.

    Args:
        batch_id: number of the worker (of the thread, in the main process), and of the batch in it.

    Attributes:
        call_args: inputs of the pipeline by name, a list with a value for each sample; empty once they were sent.
        is_complete: no sample will be added.
        is_scheduled: the inputs were sent to the server.
        ticket: what the server knows the run by, once it is scheduled.
        outputs: once they were taken, in the main process: a tensor for each output of the pipeline.
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
    """Stands for a sample of one output of the pipeline: what a proxy returns.

    Args:
        proxy: that made it.
        pipe_run_ref: the samples that the proxy got since its last batch.
        output_idx: number of the output.
        sample_idx: number of the sample among those.
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
    """Stands for one output of a run of the pipeline: what references of samples are collated to.

    Args:
        pipe_run_ref: the run.
        output_idx: number of the output.
    """

    def __init__(self, pipe_run_ref: DALIPipelineRunRef, output_idx: int):
        self.pipe_run_ref, self.output_idx = pipe_run_ref, output_idx

    def __repr__(self) -> str:
        return f"DALIOutputBatchRef({self.pipe_run_ref}, output_idx={self.output_idx})"
