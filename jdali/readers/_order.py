"""In which order a reader takes the samples of its data set: epochs, shards, shuffling, padding, state.

The order is a pure function of the arguments, so its state is two numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_STATE_VERSION = 1
# Key of those permutations that must be the same on every shard, whatever seed each was given.
_COMMON_SEED = 0


class Batch(NamedTuple):
    """References to the samples of one batch.

    Attributes:
        epochs: uint32 [n], in which pass over the data set each is read.
        indices: int64 [n], in the data set.
        padded: bool [n], True for a repeated sample that only fills up a batch.
    """

    epochs: np.ndarray
    indices: np.ndarray
    padded: np.ndarray


def permutation(size: int, *key: int) -> np.ndarray:
    """int64 [size], a random order that follows from `key` alone (two numbers of 64 bits).

    Random numbers with the indices in their low bits are sorted. NumPy keeps the raw stream of a bit
    generator stable for ever, but not that of `Generator.permutation`; and all numbers differ, so
    that the result does not depend on the way of sorting.
    """
    words = np.array([k & 0xFFFF_FFFF_FFFF_FFFF for k in key], np.uint64)
    low = np.uint64((1 << max(size - 1, 0).bit_length()) - 1)
    drawn = np.random.Philox(key=words).random_raw(size) & ~low
    drawn |= np.arange(size, dtype=np.uint64)
    drawn.sort()
    return (drawn & low).astype(np.int64)


class Order:
    """The order in which one shard takes samples, epoch after epoch.

    Shard i of S begins at sample floor(size·i / S) of the data set; with each epoch it moves on to
    the next shard's part, unless `stick_to_shard`. Without `pad_last_batch` batches run on into the
    next epoch. With it an epoch ends with a batch: the last sample is repeated up to the end of the
    batch, and for whole batches more where other shards have one sample more.

    Shuffling never mixes epochs. `random_shuffle` puts the data set in a fixed random order, common
    to all shards, and each epoch's part of it in an order of its own; `shuffle_after_epoch` puts the
    whole data set in a new random order for each epoch, the first included, and each shard keeps its
    place.

    Args:
        size: number of samples.
        shard_id, num_shards: which part is read; at least one sample for each shard.
        random_shuffle, shuffle_after_epoch: at most one of them.
        stick_to_shard: read the same part in every epoch; not with `shuffle_after_epoch`.
        pad_last_batch: see above.
        seed: of the order within a part (`random_shuffle`).
        shuffle_seed: of the order of the data set (`shuffle_after_epoch`), the same on all shards.
    """

    def __init__(
        self,
        size: int,
        *,
        shard_id: int = 0,
        num_shards: int = 1,
        random_shuffle: bool = False,
        shuffle_after_epoch: bool = False,
        stick_to_shard: bool = False,
        pad_last_batch: bool = False,
        seed: int = 0,
        shuffle_seed: int | None = None,
    ):
        if not 0 <= shard_id < num_shards:
            raise ValueError(
                f"shard_id is {shard_id}; it must be from 0 to num_shards - 1 = {num_shards - 1}"
            )
        if num_shards > size:
            raise ValueError(f"num_shards is {num_shards}, more than the {size} samples there are")
        if shuffle_after_epoch and (random_shuffle or stick_to_shard):
            other = "random_shuffle" if random_shuffle else "stick_to_shard"
            raise ValueError(f"shuffle_after_epoch and {other} exclude each other")
        self.size, self.shard_id, self.num_shards = size, shard_id, num_shards
        self.pad_last_batch = pad_last_batch
        self.stick_to_shard = stick_to_shard or shuffle_after_epoch
        self._random, self._shuffled = random_shuffle, shuffle_after_epoch
        self._seed = seed
        self._common_seed = _COMMON_SEED if shuffle_seed is None else shuffle_seed
        self._common: np.ndarray | None = permutation(size, _COMMON_SEED, 0) if random_shuffle else None
        self.seek(0, 0)

    # --- state ------------------------------------------------------------------------------
    def seek(self, epoch: int, position: int = 0) -> None:
        """Goes to a place in an epoch; `position` counts this shard's samples, repeated ones too."""
        self._epoch, self._position = epoch, position
        self._resharded: list[list[int]] = []
        self._load_epoch()

    def get_state(self) -> dict[str, Any]:
        """What `set_state` needs to go on from here; plain numbers, the same on all shards in step."""
        return {
            "version": _STATE_VERSION,
            "size": self.size,
            "num_shards": self.num_shards,
            "epoch": self._epoch,
            "position": self._position,
            "resharded": [list(pair) for pair in self._resharded],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on where a state was taken, also with another number of shards.

        In the latter case what all shards together had left of the epoch, each at the position of
        the state, is divided anew; later epochs are as if there had been no change.
        """
        if state.get("version") != _STATE_VERSION:
            raise ValueError(f"the reader's state has version {state.get('version')}, not {_STATE_VERSION}")
        if state["size"] != self.size:
            raise ValueError(
                f"the state is of a data set of {state['size']} samples, this one has {self.size}"
            )
        resharded = [list(pair) for pair in state["resharded"]]
        position = int(state["position"])
        if state["num_shards"] != self.num_shards and (position or resharded):
            resharded.append([int(state["num_shards"]), position])
            position = 0
        self._epoch, self._position, self._resharded = int(state["epoch"]), position, resharded
        self._load_epoch()

    # --- the order --------------------------------------------------------------------------
    def take(self, count: int) -> Batch:
        """The next `count` samples."""
        if self.pad_last_batch:
            return self._take_padded(count)
        epochs, indices = [], []
        missing = count
        while missing:
            part = self._mine[self._position : self._position + missing]
            if not len(part):
                self._next_epoch()
                continue
            epochs.append(np.full(len(part), self._epoch, np.uint32))
            indices.append(part)
            self._position += len(part)
            missing -= len(part)
        return Batch(
            np.concatenate([np.empty(0, np.uint32), *epochs]),
            np.concatenate([np.empty(0, np.int64), *indices]),
            np.zeros(count, bool),
        )

    def _take_padded(self, count: int) -> Batch:
        while self._position >= max(len(self._mine), -(-self._share // self.num_shards)):
            self._next_epoch()
        places = np.arange(self._position, self._position + count)
        padded = places >= len(self._mine)
        # An empty part (after a change of the number of shards) repeats the last of the others'.
        mine = self._mine if len(self._mine) else self._filler
        indices = mine[np.minimum(places, len(mine) - 1)]
        self._position += count
        return Batch(np.full(count, self._epoch, np.uint32), indices, padded)

    def _next_epoch(self) -> None:
        self._epoch, self._position, self._resharded = self._epoch + 1, 0, []
        self._load_epoch()

    def _load_epoch(self) -> None:
        """This shard's samples of the epoch, and how many all shards have in it."""
        if not self._resharded:
            self._mine = self._part(self.shard_id, self.num_shards)
            self._share, self._filler = self.size, self._mine[-1:]
            return
        (shards, position), *later = self._resharded
        parts = [self._part(i, shards) for i in range(shards)]
        rest = np.concatenate([part[position:] for part in parts])
        for shards, position in later:
            rest = np.concatenate([_slice(rest, i, shards)[position:] for i in range(shards)])
        self._mine = _slice(rest, self.shard_id, self.num_shards)
        self._share, self._filler = len(rest), rest[-1:]

    def _part(self, shard_id: int, num_shards: int) -> np.ndarray:
        """Samples that a shard takes in the current epoch, in order."""
        place = shard_id if self.stick_to_shard else (shard_id + self._epoch) % num_shards
        if self._shuffled:
            return _slice(permutation(self.size, self._common_seed, self._epoch), place, num_shards)
        start, end = self.size * place // num_shards, self.size * (place + 1) // num_shards
        if self._common is None:
            return np.arange(start, end)
        inner = permutation(end - start, self._seed, self._epoch << 32 | place)
        mine: np.ndarray = self._common[start:end][inner]
        return mine


def _slice(items: np.ndarray, shard_id: int, num_shards: int) -> np.ndarray:
    return items[len(items) * shard_id // num_shards : len(items) * (shard_id + 1) // num_shards]
