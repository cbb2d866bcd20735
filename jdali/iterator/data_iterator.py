"""`DataIterator`: what a training loop in JAX goes through."""

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
from jdali.iterator.policy import LastBatchPolicy
from jdali.iterator.state import checkpoints, restored_state
from jdali.iterator.stream import BatchStream, log
from jdali.pipeline import Pipeline
from jdali.profiler import Report

_AUTO_RESET = {False: False, None: False, "no": False, True: True, "yes": True}

Self = TypeVar("Self", bound="DataIterator[Any]")

# The last iterator over each pipeline. Neither lives longer for being in here.
_LOOPS: weakref.WeakKeyDictionary[Pipeline, weakref.ref[DataIterator[Any]]] = weakref.WeakKeyDictionary()


class DataIterator(EpochLoop[BatchT]):
    """Goes through the batches of pipelines: dicts of dense `jax.Array`s [N, ...].

    The next batch is made, and brought to its devices, while the training step works on the last one.
    64-bit outputs arrive as 32-bit ones unless `jax_enable_x64` is set, as everything does in JAX.

    An epoch ends with StopIteration; `reset`, or the next `for` loop, begins another one. A loop that is left early
    is continued by the next one, and `reset` in the middle of an epoch is ignored, as in DALI; `take(n)` and
    `reset(force=True)` end it.

    Several threads may use one iterator: each batch, and each end of an epoch, goes to one of those that
    call `next`; after the end all others get StopIteration too, up to the `reset`. `set_state` in another
    thread takes effect between two batches, a `next` that waits goes on from there; after `close` it raises.

    Args:
        pipelines: one, or several of the same outputs and batch size, whose rows are put one after
            another.
        output_map: a name for each output; or a TypedDict, whose keys they are, and which then is the type of the batches
            for type checkers (it may declare the mask, and sizes of ragged outputs, too); None: the names that the function
            of the pipeline gives (`Pipeline.output_names`).
        size: samples in an epoch, of all pipelines together; for sources that do not end. Without `size`
            and `reader_name` the epoch lasts until a source ends, whatever the size of its batches; readers do not.
        reader_name: name of the reader (its argument `name`) that says how long an epoch is.
        auto_reset: True or "yes": the next epoch begins without a call of `reset`.
        last_batch_padded: with `size`: the source repeats its last sample at the end of the epoch; a
            reader says so itself.
        last_batch_policy: what to do with samples that do not fill a batch.
        prepare_first_batch: begin with the first batch (and its compilation) at once, in the background; functions
            of external sources are called for it here.
        sharding: for all outputs, or for each by name: outputs become global arrays. The compiled stages
            that give them run on all those devices, each on its own samples, and the results stay there;
            slices of what is made on the host go straight to their devices (`Pipeline.plan` says which
            stages are spread). In a program of several processes every process gives its part of the
            batch: its pipelines read other shards than those of other processes, with the same seed (where
            several hold the same part: the same shard). `reader_name` makes all of them go the same
            number of steps.
        mask_name: name of the mask, bool [N]: False for samples that only fill up the batch (with
            `LastBatchPolicy.PAD`) and for those that another one replaces (of pipelines with
            `on_error="mask"`). There is no mask otherwise.
        ragged: names of outputs whose samples may differ in size, or "pad" for all: they are padded by
            zeros and `<name>_extent`, int32 [N, ndim], has their sizes. "error": such samples raise.
        squeeze: names of outputs whose samples are one number each, as a reader's labels: [N, 1] becomes [N].
        pmap_shape: with `sharding`: outputs are [parts, N / parts, ...], with an axis for the parts of the
            batch, as functions under `jax.pmap` take them.

    Attributes:
        output_map: the names.
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
        check_sharding(sharding, [*self.output_map, mask_name], last_batch_policy)
        assemble = self._assembler(sharding, names, mask_name if masked else None, pmap_shape)
        assemble.squeezed = frozenset(self._known_names("squeeze", squeeze))
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
        """The pipelines that it takes batches of, for their errors, plans and times."""
        return tuple(self._pipelines)

    def __repr__(self) -> str:
        length = "" if self._length is None else f" of {self._length}"
        return (
            f"<jdali.{type(self).__name__} of {', '.join(self.output_map)}: {self.batch_size} samples a batch, "
            f"{len(self._pipelines)} pipeline{'s' * (len(self._pipelines) > 1)}, {self._done}{length} batches of this epoch "
            f"taken{', at its end' * (self._end is not None)}>"
        )

    def _assembler(
        self, sharding: Sharding | Mapping[str, Sharding] | None, padded: Sequence[str], mask_name: str | None,
        leading: bool,
    ) -> Assembler:  # fmt: skip
        return Assembler(self.output_map, sharding, padded, mask_name, leading=leading)

    # --- iterating --------------------------------------------------------------------------
    def next(self) -> BatchT:
        """Returns the next batch, as `next(iterator)` does."""
        return self.__next__()

    @folding
    def peek(self) -> BatchT:
        """Returns the batch that `next` will return; `get_state` does not count it."""
        return self._draw(keep=True).arrays

    # --- facts ------------------------------------------------------------------------------
    def __len__(self) -> int:
        """Counts the batches of a loop over this epoch; the next epoch may have one more or less, see `LastBatchPolicy`.

        After `set_state` or a `break`, a loop gives the rest of the epoch, so the rest is counted; once that loop has ended, the
        next epoch is. After a whole epoch the count stays until `reset`.
        """
        length = self._length if self._counts_this else self._end.length  # type: ignore[union-attr]
        if length is None:
            raise TypeError("iterator: the number of batches is not known; give size or reader_name")
        return length - (self._first if self._counts_this else 0)

    @property
    def _counts_this(self) -> bool:
        """True if `len` is of this epoch: a bar over the next one is begun before that is."""
        return self._end is None or not self._first

    @property
    def size(self) -> int:
        """Samples in those batches, without what only fills the last one up (PARTIAL, PAD); -1: not known.

        Of one shard, with `reader_name`; else of all pipelines together.
        """
        with self._lock:
            state = self._state if self._counts_this else self._end.next_state  # type: ignore[union-attr]
            counter = copy.copy(self._stream.counter)
            counter.set_state(state["epoch"])
            return counter.samples_from(self._first if self._counts_this else 0)

    @property
    def wait_seconds(self) -> float:
        """Returns the time that `next` waited for data in this epoch (until the next one begins: in the last)."""
        return self._clock.waited

    @property
    def wait_share(self) -> float:
        """`wait_seconds` as a share of the time since the epoch's first `next` was called."""
        return self._clock.share

    def report(self) -> Report:
        """Reports where the time of this epoch went, for a person to read; until the next one begins, of the last.

        `print(iterator.report())` says whether the loop waited for data, which part of the pipeline sets
        the pace, and what to change.
        """
        clock = self._clock
        return self._recorder.report(clock.batches, clock.elapsed, clock.waited, clock.first_wait)

    # --- state ------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        """Returns the position after the batch that `next` returned last; small, and fit for JSON."""
        return self._state

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Goes on after the batch that `get_state` followed, in this or in a like iterator.

        The batch size and the number of pipelines and shards may be others: then what was left of the
        epoch is divided anew. All processes may take the state of any one of them. The pipelines' seeds
        must be the same for that.

        Raises:
            StateError: the state is of other pipelines, and what differs. The iterator stays where it was.
        """
        with self._lock:
            self._kept = None
            try:
                self._stream.set_state(state)
            except StateError:
                with contextlib.suppress(StateError):  # what can only be gone through once cannot go back
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
        """Returns DALI's checkpoints: for each pipeline where it and the iterator are, for its argument `checkpoint`.

        Raises:
            ValueError: the pipelines were made without `enable_checkpointing=True`.
        """
        if not all(pipe.enable_checkpointing for pipe in self._pipelines):
            raise ValueError(
                "iterator: Cannot access checkpoints with checkpointing disabled: give the pipelines "
                "enable_checkpointing=True (`get_state` does not need it)"
            )
        return checkpoints(self._state)

    # --- again ------------------------------------------------------------------------------
    def batch_at(self, step: int, epoch: int | None = None) -> BatchT:
        """Makes a batch once more, bitwise as it was or will be in training; the iterator goes on as before.

        For pipelines that read, and external sources that are lists or callbacks told what to give.

        Args:
            step: number of the batch, from 0; in a program that was resumed the numbers go on.
            epoch: count `step` from the beginning of this epoch (the first is 0); None: from the beginning
                of the training. In an epoch that was resumed with another batch size or number of
                shards, the batches are counted from there.

        Raises:
            IndexError: there is no such batch.
            ValueError: it is not known which samples were in it.
            RuntimeError: an external source cannot be asked again.
        """
        return replay.batch_at(self._stream, step, epoch)  # type: ignore[return-value]

    def sample(self, index: int, epoch: int = 0) -> dict[str, jax.Array]:
        """Makes a sample once more, without the batch axis, with the augmentations of an epoch.

        Args:
            index: of the sample in the reader's data set.
            epoch: in which it is read, the first is 0.
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

    # --- the end ----------------------------------------------------------------------------
    def close(self) -> None:
        """Stops the iterator and its pipelines, and waits for their threads; harmless twice."""
        for pipe in self._pipelines:
            pipe.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "iterator: it cannot be pickled or copied, it has threads and waiting batches: make another one like "
            "it where it is wanted, and give its set_state what get_state() returns here"
        )

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def loop_over(pipe: Pipeline) -> DataIterator[Any] | None:
    """Returns the iterator over a pipeline, which reports on the running loop; None: none is left."""
    found = _LOOPS.get(pipe)
    return None if found is None else found()
