"""Defines `DataIterator`, over which a training loop in JAX iterates."""

from __future__ import annotations

import contextlib
import copy
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import jax
from jax.sharding import Sharding

from jdali._state import StateError
from jdali._system.tracebacks import folding
from jdali.iterator import replay as replay
from jdali.iterator.arguments import (
    check_arguments,
    check_last_batch,
    check_sharding,
    epoch_counter,
    output_names,
)
from jdali.iterator.assemble import Assembler
from jdali.iterator.epoch_loop import BatchT, EpochLoop, WaitClock
from jdali.iterator.policy import EpochCounter, LastBatchPolicy
from jdali.iterator.state import checkpoints, restored_state
from jdali.iterator.stream import BatchStream, log
from jdali.pipeline import Pipeline
from jdali.profiler import Report

_AUTO_RESET = {False: False, None: False, "no": False, True: True, "yes": True}

Self = TypeVar("Self", bound="DataIterator[Any]")

# The last iterator over each pipeline; both references are weak.
_LOOPS: weakref.WeakKeyDictionary[Pipeline, weakref.ref[DataIterator[Any]]] = weakref.WeakKeyDictionary()


class DataIterator(EpochLoop[BatchT]):
    """Iterates over the batches of pipelines, dicts of dense `jax.Array`s [N, ...].

    The next batch is made and copied to its devices while the training step uses the current one.
    64-bit outputs become 32-bit unless `jax_enable_x64` is set, as always in JAX. `with jax.enable_x64(True):` and
    `with jax.default_device(...):` count where the iterator is made.

    An epoch ends with StopIteration; `reset` or the next `for` loop begins another. As in DALI, the next
    loop continues a loop that was left early, and `reset` in the middle of an epoch is ignored; `take(n)` and
    `reset(force=True)` end the epoch.

    Several threads may share one iterator. Each batch goes to only one of the threads that call `next`; after the end of an
    epoch, all threads get StopIteration until `reset`. With `auto_reset`, only the thread that reaches the end gets it, and
    the others get batches of the next epoch. If another thread calls `set_state`, a waiting `next` returns a batch of the new
    position; if it calls `close`, `next` raises an error.

    Args:
        pipelines: one pipeline, or several with the same outputs and batch size, whose rows are concatenated.
        output_map: a name for each output, or a TypedDict whose keys are the names. A TypedDict is also the batch
            type for type checkers, and may declare the mask and the sizes of ragged outputs. None: the names
            that the pipeline function returns (`Pipeline.output_names`).
        size: samples in an epoch, of all pipelines together, for sources without an end. Without `size` and `reader_name`,
            an epoch lasts until an external source ends; readers never end.
        reader_name: name of the reader (its argument `name`) that sets the length of the epochs.
        auto_reset: with True or "yes", the next epoch begins without a call of `reset`.
        last_batch_padded: with `size`, True if the source repeats its last sample at the end of the epoch. Not needed with
            `reader_name`.
        last_batch_policy: rule for samples that do not fill a batch.
        prepare_first_batch: if True, immediately starts to make the first batch, and to compile programs for it, in the
            background. The constructor then calls the functions of external sources for this batch.
        sharding: a sharding for all outputs, or a dict of shardings by name; outputs become global arrays. The compiled
            stages that make these outputs run on all devices of the sharding, each device on its part of the samples, and
            the results stay there (`Pipeline.plan` shows which stages do). Outputs in host memory are copied slice by slice
            to their devices. With several processes, each process makes a part of the batch. The pipelines of all
            processes must have the same seed. Processes with the same part must read the same shard, processes with
            different parts different shards. Give `reader_name`, so that all processes take the same number of steps.
        mask_name: name of the mask, bool [N]. There is one with `LastBatchPolicy.PAD` or `on_error="mask"`. It is False for
            samples that only fill up the batch (with PAD), and for samples that replace failed ones (with
            `on_error="skip"`, too).
        ragged: names of outputs whose samples may differ in size, or "pad" for all: they are padded with
            zeros, and `<name>_extent`, int32 [N, ndim], has their sizes. "error" raises an error for them. An output that
            `sharding` spreads over several processes cannot be padded: each would choose a shape of its own.
        squeeze: names of outputs with one number per sample, such as a reader's labels: [N, 1] becomes [N].
        pmap_shape: with `sharding`, makes outputs [parts, N / parts, ...], as functions under `jax.pmap`
            expect.

    Attributes:
        output_map: names of the outputs.
        batch_size: samples in a batch of one pipeline.
    """

    @folding
    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str] | type[BatchT] | None = None,
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: bool | str | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: Sharding | Mapping[str, Sharding] | None = None,
        *,
        mask_name: str = "mask",
        ragged: str | Sequence[str] = "error",
        squeeze: str | Sequence[str] = (),
        pmap_shape: bool = False,
    ):
        single = isinstance(pipelines, Pipeline) or callable(pipelines)
        pipes: list[Any] = [pipelines] if single else list(pipelines or ())
        masked = last_batch_policy is LastBatchPolicy.PAD or any(
            getattr(pipe, "on_error", None) == "mask" for pipe in pipes
        )
        self.output_map = output_names(output_map, pipes, mask_name=mask_name, masked=masked, ragged=ragged)
        check_arguments(pipes, self.output_map, size, reader_name, last_batch_padded, last_batch_policy)
        if auto_reset not in _AUTO_RESET:
            raise ValueError(
                f'iterator: Unsupported value for `auto_reset` {auto_reset}: it must be a bool, "yes" or "no"'
            )
        self.batch_size = pipes[0].batch_size
        self._pipelines = pipes
        names = self._ragged_names(ragged)
        if masked and mask_name in self.output_map:
            raise ValueError(
                f"iterator: {mask_name!r} is the name of an output; give the mask another mask_name"
            )
        check_sharding(sharding, [*self.output_map, *[mask_name] * masked], last_batch_policy, names)
        if pmap_shape and sharding is None:
            raise ValueError("iterator: pmap_shape=True needs `sharding`, whose parts become the first axis")
        assemble = self._assembler(
            sharding=sharding, padded=names, mask_name=mask_name if masked else None, leading=pmap_shape,
            squeezed=self._known_names("squeeze", squeeze),
        )  # fmt: skip
        for pipe, splits in zip(pipes, assemble.splits(len(pipes)), strict=True):
            pipe.build()
            if len(splits) == pipe.num_outputs:
                pipe.split_outputs(splits)
        counter = epoch_counter(
            pipes, size, reader_name, last_batch_padded, last_batch_policy, prepare_first_batch
        )
        check_last_batch(counter, assemble.splits(1)[0])
        super().__init__(
            BatchStream(pipes, counter, assemble),
            self.batch_size * len(pipes),
            auto_reset=_AUTO_RESET[auto_reset],
        )
        for pipe in pipes:
            _LOOPS[pipe] = weakref.ref(self)
        self._prepare_first_batch = prepare_first_batch
        if any(pipe.is_restored_from_checkpoint for pipe in pipes):
            self._go_on_from_checkpoints()
        elif prepare_first_batch:
            self._stream.start()

    def _ragged_names(self, ragged: str | Sequence[str]) -> list[str]:
        if isinstance(ragged, str):
            if ragged not in ("error", "pad"):
                raise ValueError(
                    f'iterator: ragged must be "error", "pad" or names of outputs, not {ragged!r}'
                )
            return self.output_map if ragged == "pad" else []
        return self._known_names("ragged", ragged)

    def _known_names(self, argument: str, names: str | Sequence[str]) -> list[str]:
        listed = [names] if isinstance(names, str) else list(names)
        unknown = sorted(set(listed) - set(self.output_map))
        if unknown:
            raise ValueError(f"iterator: {argument} names {unknown}, the outputs are {self.output_map}")
        return listed

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        """The pipelines of this iterator; they record errors, plans and times."""
        return tuple(self._pipelines)

    def __repr__(self) -> str:
        length = "" if self._length is None else f" of {self._length}"
        return (
            f"<jdali.{type(self).__name__} of {', '.join(self.output_map)}: {self.batch_size} samples a batch, "
            f"{len(self._pipelines)} pipeline{'s' * (len(self._pipelines) > 1)}, {self._done}{length} batches of this epoch "
            f"taken{', at its end' * (self._end is not None)}>"
        )

    def _assembler(self, **options: Any) -> Assembler:
        return Assembler(self.output_map, **options)

    def next(self) -> BatchT:
        """Returns the next batch, as `next(iterator)` does."""
        return self.__next__()

    @folding
    def peek(self) -> BatchT:
        """Returns the batch that `next` will return, without moving the iterator."""
        return self._draw(keep=True).arrays

    def __len__(self) -> int:
        """Counts the batches of a loop over this epoch. The next epoch may have one more or less (`LastBatchPolicy`).

        After `set_state` or a `break`, only the rest of the epoch is counted. If nothing is left, or after a loop over
        this rest, the next epoch is counted. After a loop over a whole epoch, the count does not change until `reset`.
        """
        with self._lock:
            counter, first = self._counted()
        if counter.length is None:
            raise TypeError("iterator: the number of batches is not known; give size or reader_name")
        return counter.length - first

    def _counted(self) -> tuple[EpochCounter, int]:
        """Returns a counter in the epoch that `len` and `size` count, and the number of the batch to count from."""
        counter = self._reached()
        was_rest = self._first > 0 or not counter.is_whole
        if self._first == self._length or (was_rest and self._end is not None):  # nothing is left
            return counter.following(), 0
        return counter, self._first

    @property
    def size(self) -> int:
        """Samples in the batches that `len` counts, of all pipelines together; -1 if not known.

        With `reader_name`, the shards of this iterator's pipelines are counted. With PARTIAL and PAD, samples that only fill
        up the last batch are not counted.
        """
        with self._lock:
            counter, first = self._counted()
        return counter.samples_from(first)

    @property
    def wait_seconds(self) -> float:
        """Seconds that `next` waited for data in this epoch. After the epoch, the value stays until the next epoch begins."""
        return self._clock.waited

    @property
    def wait_share(self) -> float:
        """`wait_seconds` as a share of the time since the epoch's first `next` was called."""
        return self._clock.share

    def report(self) -> Report:
        """Reports on the time of this epoch. After the epoch, the report stays until the next epoch begins.

        `print(iterator.report())` shows whether the loop waited for data, which part of the pipeline is the
        bottleneck, and what to change.
        """
        clock = self._clock
        return self._recorder.report(clock.batches, clock.elapsed, clock.waited, clock.first_wait)

    def get_state(self) -> dict[str, Any]:
        """Returns the position after the batch that `next` returned last. The state is small and JSON-serializable."""
        return copy.deepcopy(self._state)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continues where `get_state` was called, in this or an equal iterator.

        The batch size and the number of pipelines and shards may differ; then the rest of the epoch is divided into new
        batches. If all pipelines have the same seed, all processes may take the state of any one process.

        Raises:
            StateError: the state belongs to other pipelines; the message names the difference. The position does not change.
        """
        with self._lock:
            self._kept = None
            try:
                self._stream.set_state(state)
            except StateError:
                with contextlib.suppress(StateError):  # a source that can be read only once cannot move back
                    self._stream.set_state(self._state)
                raise
            counter = self._stream.counter
            self._state, self._done, self._end = self._stream.get_state(), counter.done, None
            self._first = self._done
            self._size, self._length = counter.size, counter.length
            self._clock = WaitClock()
            self._recorder.mark()
            if state["ended"]:
                self._end = self._stream.end()
                if self._resets_itself:
                    self.reset()
            if self._end is None and self._prepare_first_batch:
                self._stream.start()

    def checkpoints(self) -> list[bytes]:
        """Returns a DALI checkpoint for each pipeline (its argument `checkpoint`), with the iterator's position.

        Raises:
            ValueError: the pipelines were made without `enable_checkpointing=True`.
        """
        if not all(pipe.enable_checkpointing for pipe in self._pipelines):
            raise ValueError(
                "iterator: Cannot access checkpoints with checkpointing disabled: give the pipelines "
                "enable_checkpointing=True (`get_state` does not need it)"
            )
        return checkpoints(self._state)

    def batch_at(self, step: int, epoch: int | None = None) -> BatchT:
        """Makes any batch of the training again, bitwise the same; the iterator's position does not change.

        Works with readers, and with external sources that are lists, or functions of a sample number or batch number.

        Args:
            step: number of the batch, from 0. In resumed training, the count continues.
            epoch: number of the epoch, from 0; `step` is then counted from its beginning. None counts from the beginning of
                the training. If an epoch was resumed with another batch size or number of shards, its batches are counted
                from where it was resumed.

        Raises:
            IndexError: the batch does not exist.
            ValueError: the samples of the batch are not known.
            RuntimeError: an external source cannot go back.
        """
        return replay.batch_at(self._stream, step, epoch)  # type: ignore[return-value]

    def sample(self, index: int, epoch: int = 0) -> dict[str, jax.Array]:
        """Makes a sample again, without the batch axis, with the augmentations of an epoch.

        Args:
            index: index of the sample in the reader's data set.
            epoch: number of the epoch; the first is 0.
        """
        return replay.sample(self._stream, self.output_map, index, epoch)

    def _go_on_from_checkpoints(self) -> None:
        state = restored_state(self._pipelines)
        if state is None:
            log.warning(
                "iterator: the pipelines were not restored from the checkpoints of one iterator: what they "
                "give goes on, the count of the batches of the epoch begins anew"
            )
            state = self._stream.get_state()
        self.set_state(state)

    def close(self) -> None:
        """Stops the iterator and its pipelines, and waits for their threads; a second call does nothing."""
        for pipe in self._pipelines:
            pipe.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "iterator: it cannot be pickled or copied, because it has threads and waiting batches: make an equal one "
            "in the other place, and pass its set_state the result of get_state() here"
        )

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def loop_over(pipe: Pipeline) -> DataIterator[Any] | None:
    """Returns the last iterator over a pipeline, which can report on the running loop; None if it is gone."""
    found = _LOOPS.get(pipe)
    return None if found is None else found()
