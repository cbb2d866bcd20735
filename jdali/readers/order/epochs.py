"""Orders the samples of a data set: epochs, shards, shuffling, padding, state.

The order is a pure function of its arguments, so its state is a few numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._state import check_version
from jdali.readers.order.indices import IndexSequence, Movable, counting, joined, permutation
from jdali.readers.order.mixing import mixed, reach
from jdali.readers.order.selection import SampleSelection

# Version 1 lacks "fill", because its random orders shuffle the whole shard.
_STATE_VERSION = 2
# Seed of the permutations that all shards share, even if the shards have different seeds.
_COMMON_SEED = 0
# Minimum number of samples to look up at a time.
_AHEAD = 4096


class SampleRefs(NamedTuple):
    """References to the samples of one batch.

    Attributes:
        epochs: uint32 [n], number of each sample's pass over the data set.
        indices: int64 [n], indices in the data set.
        padded: bool [n], True for a repeated sample that only fills up a batch.
        identities: int64 [n], seeds of the samples' random values, if a pass may draw a sample twice; None: the
            indices are the seeds.
        members: int64 [n, m], numbers of the pieces of each packed sample (see `RowPacking`), padded with -1; `indices`
            has the sample of the first piece. None: samples are not packed.
    """

    epochs: np.ndarray
    indices: np.ndarray
    padded: np.ndarray
    identities: np.ndarray | None = None
    members: np.ndarray | None = None

    @property
    def identified(self) -> np.ndarray:
        """Seeds for the samples' random values, int64 [n]."""
        return self.indices if self.identities is None else self.identities

    @property
    def wanted(self) -> np.ndarray:
        """The samples or pieces to load, int64 [n] or [n, m]."""
        return self.indices if self.members is None else self.members

    def select(self, rows: np.ndarray) -> SampleRefs:
        return SampleRefs._make(None if values is None else values[rows] for values in self)

    def reading(self, indices: np.ndarray) -> SampleRefs:
        """Returns references to `indices` in place of the samples.

        A packed sample whose index changes has the new sample as its only piece.
        """
        if self.members is None:
            return self._replace(indices=indices)
        alone = np.full_like(self.members, -1)
        alone[:, 0] = indices
        same = (indices == self.indices)[:, None]
        return self._replace(indices=indices, members=np.where(same, self.members, alone))


class _Past(NamedTuple):
    """How far the shards had read when the number of shards changed.

    Attributes:
        num_shards: number of shards before the change.
        taken: number of samples that each shard took; a single number if it is the same for all shards.
        positions: epoch and position that each shard had reached.
    """

    num_shards: int
    taken: int | list[int]
    positions: list[tuple[int, int]]

    def consumed(self, shard: int, epoch: int) -> int:
        """Returns how many samples of an epoch a shard took; sys.maxsize if all."""
        reached, position = self.positions[shard]
        return position if epoch == reached else 0 if epoch > reached else sys.maxsize


class Order(Movable):
    """The order in which one shard takes samples, epoch after epoch.

    Shard i of S begins at sample floor(size·i / S) of the data set. In each epoch it moves on to the next shard's part,
    unless `stick_to_shard`. Without `pad_last_batch`, batches continue into the next epoch. With `pad_last_batch`, the
    last sample is repeated until the epoch's last batch is full. If another shard has one more batch, this shard adds a
    batch that repeats its last sample.

    Shuffling never mixes epochs. `random_shuffle` puts the data set in a fixed random order, the same on all shards, and
    in each epoch shuffles the shard's part anew. With `initial_fill`, it keeps the stored order and only mixes nearby
    samples of a part, see `mixed`. `shuffle_after_epoch` shuffles the whole data set for each epoch, including
    the first, and each shard always takes the same slice.

    With a selection, a pass consists of places, which the selection maps to samples. All of the above then applies to
    places instead of samples, and `size` counts places.

    Args:
        selection: the samples that a pass takes; None: each sample once.
        shard_id, num_shards: the part to read; each shard needs at least one sample.
        random_shuffle, shuffle_after_epoch: ways of shuffling; only one of them may be True.
        initial_fill: size of the buffer for `random_shuffle`, samples; None: shuffle the whole part.
        stick_to_shard: read the same part in every epoch; excludes `shuffle_after_epoch`.
        pad_last_batch: see above.
        seed: seed of the order within a part (`random_shuffle`).
        shuffle_seed: seed of the order of the data set (`shuffle_after_epoch`), the same on all shards.
    """

    def __init__(
        self,
        size: int,
        *,
        selection: SampleSelection | None = None,
        shard_id: int = 0,
        num_shards: int = 1,
        random_shuffle: bool = False,
        shuffle_after_epoch: bool = False,
        initial_fill: int | None = None,
        stick_to_shard: bool = False,
        pad_last_batch: bool = False,
        seed: int = 0,
        shuffle_seed: int | None = None,
    ):
        size = size if selection is None else selection.size
        if num_shards < 1:
            raise ValueError(
                f"num_shards needs to be greater than shard_id: num_shards is {num_shards}, it must be at least 1"
            )
        if not 0 <= shard_id < num_shards:
            raise ValueError(
                f"num_shards needs to be greater than shard_id: shard_id is {shard_id}; it must be from 0 to num_shards - 1 = "
                f"{num_shards - 1}"
            )
        if num_shards > size:
            raise ValueError(
                f"The number of input samples: {size}, "
                f"needs to be at least equal to the requested number of shards: {num_shards}."
            )
        if shuffle_after_epoch and (random_shuffle or stick_to_shard):
            other = "random_shuffle" if random_shuffle else "stick_to_shard"
            raise ValueError(
                f"shuffle_after_epoch and {other} cannot be both true: `shuffle_after_epoch` and `{other}` can't be provided "
                "together"
            )
        self.size, self.shard_id, self.num_shards = size, shard_id, num_shards
        self.selection = selection
        self.pad_last_batch = pad_last_batch
        self.stick_to_shard = stick_to_shard or shuffle_after_epoch
        self._shuffled = shuffle_after_epoch
        self._fill = _checked(initial_fill) if random_shuffle and initial_fill is not None else None
        self._seed = seed
        self._common_seed = _COMMON_SEED if shuffle_seed is None else shuffle_seed
        self._epoch = self._position = 0
        whole = random_shuffle and self._fill is None
        self._common: IndexSequence | None = permutation(size, _COMMON_SEED, 0) if whole else None
        self.seek(0, 0)

    @property
    def count(self) -> int:
        return self.size if self.selection is None else self.selection.count

    @property
    def next_epoch(self) -> int:
        return int(self.cursor().take(1).epochs[0])

    def reseeded(self, seed: int) -> Order:
        other = self.cursor()
        other._seed = seed
        return other

    def whole(self, epoch: int) -> IndexSequence:
        """Returns the places of an epoch in the order in which a single shard would take them."""
        return self._part(0, 1, epoch)

    @property
    def window(self) -> int:
        """Size of a window that moves through the stored samples of a part and always contains the next sample."""
        return self._window if self.selection is None else self.selection.reach(self._window)

    @property
    def _window(self) -> int:
        """Like `window`, but counted in places."""
        if self._shuffled or self._common is not None:
            return self.size
        largest = -(-self.size // self.num_shards)
        if self._fill is None or self._fill == 1:
            return 1
        return largest if self._fill >= largest else min(reach(self._fill), largest)

    def seek(self, epoch: int, position: int = 0) -> None:
        """Moves to a position in an epoch; `position` counts this shard's samples, including repeated ones."""
        self._base, self._taken, self._past = epoch, position, list[_Past]()
        self._find()

    def get_state(self) -> dict[str, Any]:
        """Returns the state for `set_state`: plain numbers, equal on all shards at the same step.

        `taken` has a pair [number of shards, samples that each shard took] for each number of shards since `epoch`
        began.
        """
        epochs, taken = 0, self._taken
        if not self._past and not self.pad_last_batch and self.size % self.num_shards == 0:
            # Counts from the latest epoch, which all shards begin together, to keep numbers small.
            epochs, taken = divmod(taken, self.size // self.num_shards)
        return {
            "version": _STATE_VERSION,
            "size": self.size,
            "seed": self._seed,
            "fill": self._fill,
            "epoch": self._base + epochs,
            "taken": [*([past.num_shards, past.taken] for past in self._past), [self.num_shards, taken]],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues from a state, even with another number of shards.

        Unless the state comes from `merged_state`, all old shards are assumed to have taken as many samples as the shard of
        the state. The new shards divide the rest of the current epoch, and the rest of later epochs that some old shards had
        begun. Epochs that no old shard had begun are not affected.
        """
        check_version("the reader", state, _STATE_VERSION, 1)
        if state["size"] != self.size:
            raise ValueError(
                f"the state is of a data set of {state['size']} samples, this one has {self.size}"
            )
        if (fill := state.get("fill")) != self._fill:
            raise ValueError(
                f"the state is of {_mixing(fill)}, this one has {_mixing(self._fill)}: the order would be another"
            )
        *past, (shards, taken) = state["taken"]
        self._seed, self._base = state["seed"], int(state["epoch"])
        self._past = []
        for number, earlier in past:
            self._remember(number, earlier)
        if shards == self.num_shards:
            self._taken = int(taken[self.shard_id] if isinstance(taken, list) else taken)
        else:
            self._taken = 0
            if taken or self._past:
                self._remember(shards, taken)
        self._find()

    def skip(self, batches: int, count: int) -> None:
        """Moves on as `batches` calls of `take(count)` would."""
        if not self.pad_last_batch:
            self._taken += batches * count
            self._find()
            return
        step = min(max(-(-(self._limit() - self._position) // count), 0), batches)
        self._taken = self._position = self._position + step * count
        batches -= step
        if batches:
            self._next_epoch()  # from here on, all epochs have the same number of batches
            each = -(-self._limit() // count)
            self._epoch += (batches - 1) // each
            self._base = self._epoch
            self._taken = self._position = ((batches - 1) % each + 1) * count

    def _remember(self, shards: int, taken: int | list[int]) -> None:
        """Appends an earlier number of shards to `_past`, with the position that each shard had reached."""
        level = len(self._past)
        each = taken if isinstance(taken, list) else [taken] * shards
        positions = [self._walk(level, shards, shard, t) for shard, t in enumerate(each)]
        self._past.append(_Past(shards, taken, positions))

    def _find(self) -> None:
        self._epoch, self._position = self._walk(len(self._past), self.num_shards, self.shard_id, self._taken)
        self._loaded: _Epoch | None = None

    def _walk(self, level: int, shards: int, shard: int, taken: int) -> tuple[int, int]:
        """Returns the epoch and position of a shard.

        `taken` counts the shard's samples since the number of shards changed for the `level`-th time. If `level` is 0,
        it counts from the start of epoch `_base`.
        """
        epoch = self._base
        if self.pad_last_batch:  # all shards begin an epoch together
            return epoch, taken
        if level:  # skips epochs that have no samples left
            epoch = max(epoch, min(reached for reached, _ in self._past[level - 1].positions))
        while self._left(level, epoch) < self.size:
            if taken < (own := self._count(level, shards, shard, epoch)):
                return epoch, taken
            taken, epoch = taken - own, epoch + 1
        slot = self._rotated(shard, shards, epoch)
        first = self.size * slot // shards
        if self.stick_to_shard:
            epochs, position = divmod(taken, self.size * (slot + 1) // shards - first)
            return epoch + epochs, position
        # The parts that a shard reads in successive epochs are adjacent in the data set, cyclically.
        rounds, place = divmod(first + taken, self.size)
        reached = ((place + 1) * shards - 1) // self.size  # the part that holds this place
        return epoch + rounds * shards + reached - slot, place - self.size * reached // shards

    def take(self, count: int) -> SampleRefs:
        if self.pad_last_batch:
            return self._take_padded(count)
        epochs, places = [], []
        missing = count
        while missing:
            part = self._mine.next(self._position, missing)
            if not len(part):
                self._next_epoch()
                continue
            epochs.append(np.full(len(part), self._epoch, np.uint32))
            places.append(part)
            self._position += len(part)
            self._taken += len(part)
            missing -= len(part)
        return self.refs(
            np.concatenate([np.empty(0, np.uint32), *epochs]),
            np.concatenate([np.empty(0, np.int64), *places]),
            np.zeros(count, bool),
        )

    def refs(self, epochs: np.ndarray, places: np.ndarray, padded: np.ndarray) -> SampleRefs:
        if self.selection is None:
            return SampleRefs(epochs, places, padded)
        indices = self.selection.at(self._seed, epochs, places)
        return SampleRefs(epochs, indices, padded, self.selection.identities(places))

    def _take_padded(self, count: int) -> SampleRefs:
        while self._position >= self._limit():
            self._next_epoch()
        positions = np.arange(self._position, self._position + count)
        mine = self._mine
        padded = positions >= len(mine)
        part = mine.next(self._position, count)
        filled = np.full(count - len(part), mine.filler if padded.any() else 0, np.int64)
        places = np.concatenate([part, filled])
        self._taken = self._position = self._position + count
        return self.refs(np.full(count, self._epoch, np.uint32), places, padded)

    def _limit(self) -> int:
        level = len(self._past)
        return max(
            self._count(level, self.num_shards, self.shard_id, self._epoch),
            -(-self._left(level, self._epoch) // self.num_shards),
        )

    def _next_epoch(self) -> None:
        self._epoch, self._position, self._loaded = self._epoch + 1, 0, None
        if self.pad_last_batch:  # all shards reach this point together, so samples are counted from here on
            self._base, self._taken, self._past = self._epoch, 0, []

    @property
    def _mine(self) -> _Epoch:
        if self._loaded is None:
            level = len(self._past)
            mine = self._items(level, self.num_shards, self.shard_id, self._epoch)
            # After the number of shards changed, a shard may have no samples left. It repeats the last sample of other shards.
            self._loaded = _Epoch(mine, mine if len(mine) else self._rest(level, self._epoch))
        return self._loaded

    def _left(self, level: int, epoch: int) -> int:
        """Counts the samples of an epoch that were not yet read when the number of shards changed for the `level`-th time."""
        if not level:
            return self.size
        past = self._past[level - 1]
        counts = (self._count(level - 1, past.num_shards, i, epoch) for i in range(past.num_shards))
        return sum(max(n - past.consumed(i, epoch), 0) for i, n in enumerate(counts))

    def _count(self, level: int, shards: int, shard: int, epoch: int) -> int:
        left = self._left(level, epoch)
        slot = shard if left < self.size else self._rotated(shard, shards, epoch)
        return left * (slot + 1) // shards - left * slot // shards

    def _items(self, level: int, shards: int, shard: int, epoch: int) -> IndexSequence:
        if self._left(level, epoch) == self.size:  # the number of shards did not change within this epoch
            return self._part(shard, shards, epoch)
        return _slice(self._rest(level, epoch), shard, shards)

    def _rest(self, level: int, epoch: int) -> IndexSequence:
        """Returns the samples that `_left` counts."""
        past = self._past[level - 1]
        items = [self._items(level - 1, past.num_shards, i, epoch) for i in range(past.num_shards)]
        return joined([part.part(past.consumed(i, epoch), len(part)) for i, part in enumerate(items)])

    def _rotated(self, shard: int, shards: int, epoch: int) -> int:
        return shard if self.stick_to_shard else (shard + epoch) % shards

    def _part(self, shard: int, shards: int, epoch: int) -> IndexSequence:
        """Returns a shard's samples in an epoch within which the number of shards does not change."""
        slot = self._rotated(shard, shards, epoch)
        if self._shuffled:
            return _slice(permutation(self.size, self._common_seed, epoch), slot, shards)
        start, end = self.size * slot // shards, self.size * (slot + 1) // shards
        key = self._seed, epoch << 32 | slot
        if self._common is not None:
            return permutation(end - start, *key).among(self._common.part(start, end))
        part = counting(start, end)
        return part if self._fill is None else mixed(end - start, self._fill, *key).among(part)


def _checked(fill: int) -> int:
    if not isinstance(fill, (int, np.integer)) or fill < 1:
        raise ValueError(f"initial_fill is {fill!r}; it must be a whole number of samples, from 1 on")
    return int(fill)


def _mixing(fill: int | None) -> str:
    return "a reader without a buffer that mixes" if fill is None else f"one with initial_fill={fill}"


def merged_state(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merges the states of all shards, in order of shard id; shards may have taken unequal numbers of samples."""
    first = states[0]
    for state in states[1:]:
        for key in ("version", "size", "seed", "fill", "epoch"):
            if state.get(key) != first.get(key):
                raise ValueError(
                    f"the states of the shards disagree in {key}: {first[key]} and {state[key]}; take them "
                    "at the same step, and give all shards the same seed"
                )
    *past, (shards, _) = first["taken"]
    if len(states) != shards:
        raise ValueError(f"{len(states)} states for {shards} shards")
    counts = [state["taken"][-1][1] for state in states]
    # A shard that has read nothing since the state of all shards was restored still has that state's list.
    own = [count[i] if isinstance(count, list) else count for i, count in enumerate(counts)]
    return {**first, "taken": [*past, [shards, own]]}


class _Epoch:
    """Looks up a shard's samples of one epoch, block by block; shared by copies of an order.

    Args:
        items: the samples.
        others: sequence whose last sample is repeated to fill up a batch.
    """

    def __init__(self, items: IndexSequence, others: IndexSequence):
        self._items, self._others = items, others
        # A position, and the samples from there on. One tuple holds both, so that threads see a consistent pair.
        self._known = 0, np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def filler(self) -> int:
        return int(self._others.at(np.array([len(self._others) - 1]))[0])

    def next(self, position: int, count: int) -> np.ndarray:
        """Returns at most `count` samples from a position on, int64 [n]."""
        end = min(position + count, len(self))
        start, known = self._known
        if not start <= position <= end <= start + len(known):
            start = position
            known = self._items.at(np.arange(position, min(position + max(count, _AHEAD), len(self))))
            self._known = start, known
        return known[position - start : max(end - start, 0)]


def _slice(items: IndexSequence, shard_id: int, num_shards: int) -> IndexSequence:
    return items.part(len(items) * shard_id // num_shards, len(items) * (shard_id + 1) // num_shards)
