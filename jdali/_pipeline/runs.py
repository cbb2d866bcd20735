"""Running a pipeline: `run`, DALI's older way to schedule batches and share their outputs, a loop over an epoch."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jdali._batches import BatchSplit
from jdali._pipeline.base import PipelineBase
from jdali._pipeline.epoch import epoch
from jdali._pipeline.feeding import Feeding
from jdali._pipeline.run import Run
from jdali._sources import SourceFeed
from jdali._system.tracebacks import folding
from jdali._threads import until_exit
from jdali.engine import Follower, Result
from jdali.graph import DataNode
from jdali.tensors import TensorList
from jdali.types import PipelineAPIType


class PipelineRuns(PipelineBase):
    """Gives the batches of a pipeline, which is built for the first one, and takes the data that they are made of."""

    _feeding: Feeding
    _api_type: PipelineAPIType | None = None  # of who calls

    @folding
    def run(self, cuda_stream: Any = None, /, **pipeline_inputs: Any) -> tuple[TensorList, ...]:
        """One batch: a `TensorList` for each output.

        Args:
            cuda_stream: without effect.
            pipeline_inputs: data for external sources without a source, by their names.

        Raises:
            OperatorError: an operator failed. With `on_error` "skip" or "mask": no sample can be read, or not one
                of the batch that was fed.
            StopIteration: an external source is at its end; `reset` goes on.
        """
        if pipeline_inputs:
            self.feed_inputs(pipeline_inputs)
        with until_exit():
            return self._building.run().with_samples(self.run_result()).outputs

    def run_result(self) -> Result:
        """As `run`, with the identity of the samples, the masks and the state after the batch.

        A batch that `run` leaves out, for it is left without samples, is a result without outputs.
        """
        return self._unscheduled().take()

    def wait_result(self) -> None:
        """Blocks until `take_result` may have a batch; for iterators, which take it under a lock of theirs.

        Nothing is waited for where batches are made by the thread that takes them.
        """
        self._building.run().window.wait()

    def take_result(self) -> Result | None:
        """As `run_result`, but returns None if there is no batch yet."""
        return self._unscheduled().take_ready()

    def follow(self, follower: Follower) -> None:
        """Has an iterator decide on the batches that are made ahead, and finish them; see `Window.follow`.

        `run` gives the batches all the same.
        """
        self._building.run().window.follow(follower)

    def _unscheduled(self) -> Run:
        """Returns what runs the pipeline, to take a batch that was not scheduled."""
        if not self.empty():
            raise RuntimeError(
                "Pipeline.run: Mixing pipeline API type. There are scheduled batches; take them with share_outputs first"
            )
        run = self._building.run()
        self._set_up(run)
        return run

    def _set_up(self, run: Run) -> None:
        """Calls `iter_setup`, where that is not done for batches ahead."""
        run.window.refuse_own_thread()
        if not run.window.calls_user:
            with run.engine.pool.serving:
                self.iter_setup()

    def begin(self) -> None:
        """Has the next batches made in the background, as `run` does for the batches after its own.

        Functions of external sources are called for them here. Nothing happens where data is fed, or with
        `exec_async=False` or `exec_pipelined=False`. Iterators do it.
        """
        self._building.run().window.begin()

    @folding
    def schedule_run(self) -> None:
        """Starts a batch without waiting for it; take it with `share_outputs` or `outputs`.

        It is made in the background; with `exec_async=False` or `exec_pipelined=False`, before this returns.
        """
        if self._api_type is PipelineAPIType.ITERATOR:
            self.begin()
            return
        run = self._building.run()
        self._set_up(run)
        run.schedule()

    @folding
    def share_outputs(self, cuda_stream: object = None) -> tuple[TensorList, ...]:
        """The oldest scheduled batch; it stays valid for ever, `release_outputs` need not be called."""
        if self._api_type is PipelineAPIType.ITERATOR:
            return self.run()
        run = self._building.run()
        with until_exit():
            return run.with_samples(run.take_scheduled()).outputs

    def release_outputs(self) -> None:
        """Says that the last shared batch is not needed any more. Nothing is reused here before."""

    def enable_api_check(self, enable: bool) -> None:
        """Without effect: `run` and `schedule_run` may be mixed, while no batch is scheduled.

        Args:
            enable: as in DALI, whether mixing them is an error.
        """

    @folding
    def outputs(self, cuda_stream: object = None) -> tuple[TensorList, ...]:
        """`release_outputs`, then `share_outputs`; schedules a batch if none was."""
        if self.empty():
            self.schedule_run()
        return self.share_outputs()

    def empty(self) -> bool:
        """True if no batch is scheduled."""
        return self._building.built is None or self._building.built.scheduled == 0

    # --- names that DALI's users reach into ---------------------------------------------------
    def _prefetch(self) -> None:
        """Schedules as many batches as the queue holds, or those up to the end of the source."""
        with contextlib.suppress(StopIteration):
            for _ in range(self._config.depth):
                self.schedule_run()

    @contextlib.contextmanager
    def _check_api_type_scope(self, type: PipelineAPIType) -> Iterator[None]:
        """In this scope batches are scheduled and taken as an iterator does it: they come whether they were scheduled or
        not.
        """
        before, self._api_type = self._api_type, type
        try:
            yield
        finally:
            self._api_type = before

    def _run(self) -> None:
        _warn_of_name("_run", "schedule_run")
        self.schedule_run()

    def _share_outputs(self) -> tuple[TensorList, ...]:
        """As `share_outputs`; DALI's newer versions return nothing."""
        _warn_of_name("_share_outputs", "share_outputs")
        return self.share_outputs()

    def _release_outputs(self) -> None:
        _warn_of_name("_release_outputs", "release_outputs")
        self.release_outputs()

    def _outputs(self, cuda_stream: object = None) -> tuple[TensorList, ...]:
        return self.share_outputs()

    def __iter__(self) -> Iterator[tuple[TensorList, ...]]:
        """The batches up to the end of the epoch: of the reader, or where an external source ends.

        As with `run`, the last one may hold samples of the next epoch. A loop that was left is continued by the next;
        after the end of a source, `reset` comes first.

        Raises:
            TypeError: nothing in the pipeline says where an epoch ends.
        """
        feeds_itself = type(self).iter_setup is not PipelineRuns.iter_setup
        return epoch(self._building.run(), self.run, feeds_itself=feeds_itself)

    @folding
    def feed_input(
        self, data_node: DataNode | str, data: object, layout: str | None = None, cuda_stream: object = None,
        use_copy_kernel: bool = False,
    ) -> None:  # fmt: skip
        """Gives the data of the next batch to an external source that has no source of its own.

        Args:
            data_node: the output of `fn.external_source`, or its name. Of several outputs, each is fed on its own by
                its node, all that are used, or all together by name.
            data: samples as a list or an array [N, ...], NumPy, JAX, DLPack or a TensorList; a tuple of
                them if the source has several outputs and is fed by name. Copied before this returns, unless the external
                source has `no_copy=True`.
            layout: of the samples of this batch, where `fn.external_source` has none; where there is neither, a
                TensorList has its own.

        Raises:
            KeyError: the pipeline has no such external source.
            OperatorError: the data are no batch that the source may give.
        """
        self._feeding.feed([(data_node, data)], layout)

    def feed_inputs(self, inputs: Mapping[str, object], *, copy: bool = True) -> None:
        """As `feed_input`, for several external sources: all get their data, or, if it raises, none does.

        Args:
            inputs: the data of the next batch, by the names of the external sources.
            copy: False: the data are the pipeline's own, nobody will write to them.
        """
        self._feeding.feed(list(inputs.items()), copy=copy)

    def input_feed_count(self, input_name: str) -> int:
        """Returns the number of batches to feed before the first run: 1, since fed pipelines run on demand.

        Raises:
            KeyError: the pipeline has no such input.
        """
        if input_name not in self.fed_inputs:
            raise KeyError(f'Pipeline: The pipeline doesn\'t have an input named "{input_name}".')
        return 1

    @property
    def fed_inputs(self) -> list[str]:
        """The names of the external sources that `feed_input` gives the data of."""
        self._building.outputs()
        nodes = self._definition.graph.nodes
        return [n.name for n in nodes if isinstance(n.runtime, SourceFeed) and n.runtime.is_fed]

    def iter_setup(self) -> None:
        """For subclasses: called before each iteration, to give external sources their data with `feed_input`.

        As DALI does, `run` calls it for batches ahead: it has been called `prefetch_queue_depth` times when the first
        batch comes (once with `exec_async=False`). It may raise StopIteration when there are no more; `reset` goes on
        after that.
        """

    def reset(self) -> None:
        """Goes on after the end of an external source: callbacks count from 0 again, readers go on.

        Iterables have begun again by their `cycle`; those without stay at their end.
        """
        self._building.run().reset()

    def split_outputs(self, splits: Sequence[BatchSplit | None]) -> None:
        """Says on which devices the outputs are wanted; `iterator.DataIterator` does it for its `sharding`.

        Stages that give such outputs run on all those devices, each on its own samples, where that is
        possible; the values are the same. `plan` says which do. Without effect after the first run.

        Args:
            splits: of the batch axis of each output; None: one device.
        """
        run = self._building.run()
        if not run.window.started and not self.exact_shapes and not self.debug:
            run.engine.spread(splits)

    @property
    def runs_ahead(self) -> bool:
        """True if all of a batch is made before it is asked for.

        A pipeline that is fed waits for its data; what takes them from functions of the user's calls these, for a
        later batch, when one is asked for.
        """
        executor = self._building.run().window
        return executor.ahead and not executor.calls_user

    def refuse_if_closed(self) -> None:
        """Raises RuntimeError if the pipeline is closed, or this is a forked process; takes no lock."""
        if self._building.built is not None:
            self._building.built.window.refuse_if_closed()


def _warn_of_name(name: str, instead: str) -> None:
    warnings.warn(f"Pipeline.{name} is deprecated, use {instead}", DeprecationWarning, stacklevel=3)
