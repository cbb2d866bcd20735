"""Opens the sources of a pipeline, and draws tasks from them; the position can be saved and restored."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from jdali._errors import OperatorError, contained
from jdali._numerics.counting import counting
from jdali._sources import SourceFeed
from jdali._state import End
from jdali.engine.failure import NodeFailure
from jdali.engine.options import EngineOptions
from jdali.engine.task import BatchTask, EpochShare, SampleIds, SourceData
from jdali.graph import DataNode, Node
from jdali.readers.ahead import reading_ahead
from jdali.readers.base import Reader
from jdali.readers.order.epochs import SampleRefs
from jdali.readers.shared_tables import Tables, noting, reusing

_Answer = TypeVar("_Answer")


class Epochs(Protocol):
    """Counts the epochs of an iterator, and assigns each batch to an epoch when its task is drawn."""

    def draw(self) -> EpochShare:
        """Counts a batch, even if drawing it failed. Returns the place of the batch in the epoch."""

    def end(self) -> None:
        """Records that a source ended, so no batch was drawn."""


class TaskCursor:
    """Draws batches from readers and external sources; used by one thread at a time."""

    epochs: Epochs | None = None  # counts epochs for the iterator that takes the next batch, if any

    def __init__(self, readers: Mapping[Node, Any], externals: Mapping[Node, SourceFeed]):
        self._readers, self._externals = dict(readers), dict(externals)
        self.epoch = 0  # number of times that the external sources restarted
        self.iteration = self.position = 0  # numbers of batches and of samples drawn since the last restart
        self._given: dict[Node, SourceData | Exception] = {}  # data for the batch being drawn
        self._ends: dict[int, dict[str, Any]] = {}  # states of all sources at the ends of the last two epochs

    @property
    def may_end(self) -> bool:
        return bool(self._externals)

    @property
    def is_fed(self) -> bool:
        """True if the user feeds at least one of the external sources with `feed_input`."""
        return any(source.is_fed for source in self._externals.values())

    @property
    def calls_user(self) -> bool:
        """True if a source calls a function of the user in this process."""
        return any(source.calls_user for source in self._externals.values())

    def add(self, node: Node, source: Any) -> None:
        """Adds a source. Debug mode opens its sources during the first iteration, and adds each one here."""
        (self._externals if isinstance(source, SourceFeed) else self._readers)[node] = source

    def note_drawn(self, size: int) -> None:
        """Counts a batch whose sources debug mode drew one by one."""
        self.iteration += 1
        self.position += size

    def get_state(self) -> dict[str, Any]:
        """Returns the positions of all sources after the last task drawn, as plain data."""
        state: dict[str, Any] = {
            "epoch": self.epoch,
            "iteration": self.iteration,
            "position": self.position,
            "readers": {node.name: reader.get_state() for node, reader in self._readers.items()},
        }
        if self._externals:
            externals = self._externals.items()
            state["sources"] = {node.name: self.ask(node, source.get_state) for node, source in externals}
        return state

    def note_end(self) -> None:
        """Records the positions of all sources; called when one of them ends."""
        self._ends = {e: s for e, s in self._ends.items() if e == self.epoch - 1}
        self._ends[self.epoch] = self.get_state()

    def state_at_end(self, epoch: int) -> dict[str, Any] | None:
        """Returns the state recorded at the end of `epoch`, or None. Only the states of the last two ends are kept."""
        return self._ends.get(epoch)

    def set_state(self, state: Mapping[str, Any]) -> None:
        for sources, given in (
            (self._readers, state["readers"]),
            (self._externals, state.get("sources", {})),
        ):
            names = {node.name for node in sources}
            if names != set(given):
                raise ValueError(
                    f"pipeline: the state is of the sources {sorted(given)}, there are {sorted(names)}"
                )
            for node, source in sources.items():
                source.set_state(given[node.name])
        self._go_to(state)

    def _go_to(self, state: Mapping[str, Any]) -> None:
        """Restores the counters of a state; the caller restores the sources."""
        self._given.clear()
        self._ends.clear()
        self.epoch, self.iteration = int(state["epoch"]), int(state["iteration"])
        self.position = int(state["position"])
        if state.get("end") == End.LEFT:
            self.reset()

    def reset(self) -> None:
        """Starts the counts of a new epoch after an external source ended; the sources stay where they are."""
        self.epoch += 1
        self.iteration = self.position = 0

    def twin(self) -> TaskCursor:
        """Returns a second cursor over the same sources; raises RuntimeError if a source cannot be replayed."""
        twin = TaskCursor(
            {node: reader.cursor() for node, reader in self._readers.items()},
            {node: source.twin() for node, source in self._externals.items()},
        )
        twin.epoch, twin.iteration, twin.position = self.epoch, self.iteration, self.position
        return twin

    def draw(self, count: int) -> BatchTask:
        """Draws the task of the next batch; raises StopIteration if an external source is at its end."""
        try:
            size, refs, data = self._draw(count)
        except StopIteration:
            if self.epochs is not None:
                self.epochs.end()
            raise
        except Exception:
            if self.epochs is not None:
                self.epochs.draw()
            raise
        share = None if self.epochs is None else self.epochs.draw()
        state = self.get_state()
        if refs:
            return BatchTask.of(refs, data, state, share)
        ids = self.counted(self.position - size, size)
        return BatchTask(ids, np.ones(size, bool), {}, data, state, share)

    def _draw(self, count: int) -> tuple[int, dict[str, SampleRefs], dict[str, SourceData]]:
        """Draws a batch from all sources; returns its size, the samples by reader, and the data by external source."""
        # Use data that sources returned before an interrupt, because a source may not return it again.
        missing = {node: source for node, source in self._externals.items() if node not in self._given}
        for node, source in missing.items():
            self.ask(node, source.check_fed)
        # Draw from every source even if one fails, so that all stay at the same batch.
        for node, source in missing.items():
            try:
                request = (count, self.iteration, self.epoch, self.position)
                outputs = self.ask(node, functools.partial(source.draw, *request))
                self._given[node] = SourceData(tuple(outputs), tuple(source.drawn_layouts))
            except Exception as error:
                self._given[node] = error
        outcomes, self._given = self._given, {}
        data = {node: given for node, given in outcomes.items() if isinstance(given, SourceData)}
        errors = [given for given in outcomes.values() if isinstance(given, Exception)]
        if errors:
            errors.sort(key=lambda error: not isinstance(error, StopIteration))
            if isinstance(errors[0], StopIteration):
                self._end_together(outcomes)
                self.note_end()
            else:
                self._go_on(next((len(given.outputs[0]) for given in data.values()), count))
            try:
                raise errors[0]
            finally:
                errors.clear()  # no reference cycle: an error references this frame
                outcomes.clear()
        sizes = {len(samples): node for node, given in data.items() for samples in given.outputs}
        if len(sizes) > 1:
            self._go_on(count)
            raise _size_clash(sizes)
        size = next(iter(sizes), count)
        return size, self._go_on(size), {node.name: given for node, given in data.items()}

    def _end_together(self, outcomes: Mapping[Node, object]) -> None:
        """Drops the batches that sources returned in this draw, because another source has ended."""
        ended = next(node for node, outcome in outcomes.items() if isinstance(outcome, StopIteration))
        for node, outcome in outcomes.items():
            if not isinstance(outcome, StopIteration):
                self._externals[node].end_with(self._externals[ended].title)

    def counted(self, first: int, size: int) -> SampleIds:
        """Returns identities for `size` samples that come from no reader; their indices start at `first`."""
        return SampleIds(np.full(size, self.epoch, np.uint32), counting(size) + first, counting(size))

    def _go_on(self, size: int) -> dict[str, SampleRefs]:
        """Advances the readers; returns the samples of the next batch."""
        self.note_drawn(size)
        return {node.name: reader.take(size) for node, reader in self._readers.items()}

    def skip(self, batches: int, count: int) -> None:
        """Advances all sources as `batches` calls of `draw(count)` would."""
        for source in self._externals.values():
            source.skip(batches, count)
        self._skip_readers(batches, count)

    def _skip_readers(self, batches: int, count: int) -> None:
        for reader in self._readers.values():
            reader.skip(batches, count)
        self.iteration += batches
        self.position += batches * count

    def leave_epoch(self, state: Mapping[str, Any], batches: int | None, count: int) -> None:
        """Ends an epoch early, after the batch at which `state` was taken. Batches drawn since then are dropped.

        `batches` is the number of batches from there to the end of the epoch, which are skipped. If it is None, external
        sources restart if they can, and readers continue from the state.
        """
        for node, reader in self._readers.items():
            reader.set_state(state["readers"][node.name])
        self._go_to(state)
        for node, source in self._externals.items():
            source.leave_epoch(state["sources"][node.name], batches, count)
        if batches is None:
            self.reset()
        else:
            self._skip_readers(batches, count)

    def ask(self, node: Node, question: Callable[[], _Answer]) -> _Answer:
        """Calls a source; raises OperatorError in place of the source's exception."""
        try:
            return question()
        except StopIteration:
            raise
        except BaseException as error:
            failure = NodeFailure.of(node, contained(error))
            raise failure.user_error(failure.sample) from failure.first

    def close(self) -> None:
        for source in (*self._readers.values(), *self._externals.values()):
            with contextlib.suppress(AttributeError):
                source.close()


def _size_clash(nodes: Mapping[int, Node]) -> OperatorError:
    """Returns the error for sources whose batches differ in size; `nodes` maps each size to a source with this size."""
    (one, first), (other, second), *_ = nodes.items()
    text = f'Batch size clash! The input operator "{second.name}" returned a batch size {other} which is different than '
    text += f'{one} returned by "{first.name}".'
    return OperatorError(f"external_source: {text}", operator="external_source", where=second.where)


def open_sources(
    nodes: Sequence[Node], options: EngineOptions, tables: Tables
) -> tuple[dict[Node, Any], Tables]:
    """Opens the sources of a pipeline; returns them by node, and the readers' tables (`readers/shared_tables.py`).

    `tables` are those that the same readers computed in another process, so that they need not be computed again.
    """
    sources: dict[Node, Any] = {}
    noted: dict[str, dict[str, Any]] = {}
    for node in nodes:
        with noting() as noted[node.name], reusing(tables.get(node.name, {})):
            sources[node] = open_source(node, options)
    return sources, noted


def open_source(node: Node, options: EngineOptions) -> Any:
    if node.runtime is not None:
        return node.runtime
    return open_reader(node, options.seed, tolerates_errors=options.on_error != "raise")


def open_reader(node: Node, seed: int, *, tolerates_errors: bool = False, where: str | None = None) -> Reader:
    """Opens the reader of a node. Remote files are read ahead.

    Args:
        seed: seed of the random order, if the arguments have none or a negative one.
        tolerates_errors: True if failed samples are masked or replaced.
        where: the line of the user's code that errors show; None for the line of the node, "" for no line.
    """
    op = node.op
    try:
        arguments = _arguments(node, seed)
        if "_goes_on" in op.args:
            arguments["_goes_on"] = tolerates_errors
        return reading_ahead(op.run(**arguments))
    except Exception as error:
        text = str(error) if str(error).startswith(op.name) else f"{op.name}: {error}"
        where = node.where if where is None else where
        raise OperatorError.of(error, op.name, text=text, where=where) from error


def _arguments(node: Node, seed: int) -> dict[str, Any]:
    """Converts all arguments except per-sample arguments, which are read with each batch."""
    bound = node.op.bind(node.args)
    arguments = {
        name: arg.convert(bound[name])
        for name, arg in node.op.public_args.items()
        if not isinstance(bound[name], DataNode)
    }
    if "seed" in arguments and (arguments["seed"] is None or arguments["seed"] < 0):
        arguments["seed"] = seed
    return arguments
