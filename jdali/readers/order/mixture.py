"""Orders the samples of a mixture of sources as a function of a position that all shards share.

Let the sources have integer shares a₀, a₁, ... with sum d. Position u takes a sample of the first source if
floor((u + 1) · a₀ / d) > floor(u · a₀ / d); the right side is then the position in this source's stream. Otherwise,
the same rule applies to the remaining sources at position u - floor(u · a₀ / d). So any n consecutive positions have
n · aₛ / d samples of source s, if these numbers are integers. The number of samples of each source before a position
has a closed form.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jdali._state import check_version
from jdali.readers.order.epochs import Order, SampleRefs
from jdali.readers.order.indices import GOLDEN, Movable, finalized_all, key_state

_STATE_VERSION = 1
# Maximum sum of shares, so that the product of two sums fits into 64 bits. Larger shares are scaled down and rounded.
_MOST_PARTS = 1 << 30


def whole_shares(weights: Sequence[Any], temperature: float | None = None) -> tuple[int, ...]:
    """Returns integers in proportion to weights ** (1 / temperature).

    Decimal fractions stay exact: (0.7, 0.3) gives 7 and 3.
    """
    exact = [Fraction(repr(float(w))) if math.isfinite(float(w)) else Fraction(-1) for w in weights]
    if min(exact) < 0 or not any(exact):
        raise ValueError(
            f"weights are {list(weights)}; they must be finite, at least 0, and one of them above 0"
        )
    if temperature is not None:
        if not (temperature > 0 and math.isfinite(temperature)):
            raise ValueError(f"temperature is {temperature}, it must be above 0")
        largest = max(exact)
        exact = [Fraction(float(w / largest) ** (1 / temperature)) for w in exact]
    factor = math.lcm(*(w.denominator for w in exact))
    whole = [int(w * factor) for w in exact]
    whole = [w // math.gcd(*whole) for w in whole]
    if sum(whole) >= _MOST_PARTS:
        total = sum(exact)
        whole = [max(round(w / total * (_MOST_PARTS >> 1)), int(w > 0)) for w in exact]
    return tuple(whole)


class Segment(NamedTuple):
    """A range of positions with constant shares, up to the next segment.

    Attributes:
        start: first position.
        shares: shares of the sources.
        base: number of samples of each source before `start`.
    """

    start: int
    shares: tuple[int, ...]
    base: tuple[int, ...]

    def counts(self, position: int) -> tuple[int, ...]:
        """Counts the samples of each source that precede a position; the position lies in the segment, or is its end."""
        rounds, rest = divmod(position - self.start, sum(self.shares))
        left, counts = sum(self.shares), []
        for share, base in zip(self.shares, self.base, strict=True):
            own = rest * share // left if left else 0
            counts.append(base + rounds * share + own)
            rest, left = rest - own, left - share
        return tuple(counts)

    def at(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the source of each position, and the position in the stream of this source, int64 [n] each."""
        rounds, rest = np.divmod(positions - self.start, sum(self.shares))
        sources = np.full(len(positions), -1, np.int64)
        places = np.zeros(len(positions), np.int64)
        left = sum(self.shares)
        for source, (share, base) in enumerate(zip(self.shares, self.base, strict=True)):
            if not share:
                continue
            own = rest * share // left
            taken = (sources < 0) & ((rest + 1) * share // left > own)
            sources[taken] = source
            places[taken] = own[taken] + base + rounds[taken] * share
            rest, left = rest - own, left - share
        return sources, places


class MixtureOrder(Movable):
    """The order in which one shard takes samples of a mixture; it has the methods of `Order`.

    Each of S shards takes one of every S consecutive positions, chosen at random. So the batches of all shards together
    match the shares exactly; the batches of one shard match them on average. All shards take the same number of samples.
    An epoch has as many positions as all sources have samples; `epoch_size` rounds this number up to a multiple of the
    number of shards. Each source has its own order. The next pass over a source begins after its last sample.

    Args:
        orders: unsharded orders of the sources.
        segments: (first position, shares) for each part of the schedule; the first part begins at 0.
        shard_id, num_shards: determine the positions to take.
        pad_last_batch: end an epoch with a full batch, by repeating its last sample.
        seed: seed of sources that shuffle without a seed of their own.
        seeded: for each source, whether it has a seed of its own.
    """

    stick_to_shard = False

    def __init__(
        self, orders: Sequence[Order], segments: Sequence[tuple[int, tuple[int, ...]]], *, shard_id: int,
        num_shards: int, pad_last_batch: bool, seed: int, seeded: Sequence[bool],
    ):  # fmt: skip
        self.size = sum(order.size for order in orders)
        if not 0 <= shard_id < num_shards <= self.size:
            raise ValueError(
                f"shard_id is {shard_id} of {num_shards} shards, the sources have {self.size} samples: shard_id must be from 0 "
                "to num_shards - 1, and each shard needs a sample"
            )
        self.shard_id, self.num_shards, self.pad_last_batch = shard_id, num_shards, pad_last_batch
        self._plain, self._seeded = tuple(orders), tuple(seeded)
        counts = [order.count for order in orders]
        self.offsets = np.cumsum([0, *counts])
        self._schedule = tuple(segments)
        self._segments = _joined([Segment(0, segments[0][1], (0,) * len(orders))], segments)
        self._epoch, self._begun, self._taken = 0, 0, 0
        self._reseed(seed)

    def _reseed(self, seed: int) -> None:
        """Derives a seed for each source that has no seed of its own."""
        self.seed = seed
        self._orders = tuple(
            order if own else order.reseeded(key_state(seed, number) >> 1)
            for number, (order, own) in enumerate(zip(self._plain, self._seeded, strict=True))
        )
        self._pass = functools.lru_cache(maxsize=2 * len(self._orders))(Order.whole)

    @property
    def window(self) -> int:
        return self.size

    @property
    def sizes(self) -> list[int]:
        """Number of samples in a pass over each source."""
        return [order.size for order in self._plain]

    @property
    def epoch_size(self) -> int:
        """Number of samples of an epoch; without padding, it is a multiple of the number of shards."""
        return self.size if self.pad_last_batch else -(-self.size // self.num_shards) * self.num_shards

    @property
    def count(self) -> int:
        return int(self.offsets[-1])

    # A row has one position for each shard. `_begun` is the position at which the number of shards last changed, and `_taken`
    # the number of rows since then. With padding, both count from the start of the epoch.
    def get_state(self) -> dict[str, Any]:
        position = self._begun + self._taken * self.num_shards
        start = self._epoch * self.size + (min(position, self.size) if self.pad_last_batch else position)
        return {
            "version": _STATE_VERSION,
            "size": self.size,
            "sizes": self.sizes,
            "seed": self.seed,
            "fill": None,
            "epoch": self._epoch,
            "begun": self._begun,
            "segment": self.segments(start, start)[0],
            "taken": [[self.num_shards, self._taken]],
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continues from a state, even with another number of shards, other weights or another schedule.

        New shares apply from the state's position on. Samples before this position do not come again in the same pass.
        """
        check_version("the reader", state, _STATE_VERSION)
        shards, taken = self.taken(state)
        self._epoch, self._begun, self._taken = int(state["epoch"]), int(state["begun"]), taken
        position = self._begun + self._taken * shards
        if shards != self.num_shards:
            self._begun, self._taken = position, 0
        now = self._epoch * self.size + (min(position, self.size) if self.pad_last_batch else position)
        self.go_on(int(state["seed"]), [state["segment"]], now)

    def taken(self, state: Mapping[str, Any]) -> tuple[int, int]:
        """Returns the number of shards in a state, and the number of samples that each shard took.

        Raises:
            ValueError: the state belongs to other sources, or its shards took unequal numbers of samples.
        """
        if state.get("sizes") != self.sizes:
            raise ValueError(
                f"the state is of sources of {state.get('sizes')} samples, these have {self.sizes}"
            )
        ((shards, taken),) = state["taken"]
        rows = {*taken} if isinstance(taken, list) else {taken}
        if len(rows) > 1:
            raise ValueError("the shards took unequal numbers of samples; take states at the same step")
        return int(shards), int(rows.pop())

    def go_on(self, seed: int, segments: Sequence[Sequence[Any]], now: int) -> None:
        """Adopts the seed and the segments of a state; from position `now` on, this order's own schedule applies."""
        self._reseed(seed)
        before = [Segment(int(start), tuple(shares), tuple(base)) for start, shares, base in segments]
        self._segments = _joined(before, self._schedule, now)

    def segments(self, start: int, stop: int) -> list[list[Any]]:
        """Returns the segments of positions `start` to `stop`, as plain numbers."""
        first = [s for s in self._segments if s.start <= start][-1]
        found = [first, *(s for s in self._segments if start < s.start < stop)]
        return [[segment.start, list(segment.shares), list(segment.base)] for segment in found]

    def skip(self, batches: int, count: int) -> None:
        if not self.pad_last_batch:
            self._taken += batches * count
            return
        while batches:
            self._enter()
            step = min(-(-(self._rows() - self._taken) // count), batches)
            self._taken += step * count
            batches -= step

    def _rows(self) -> int:
        return -(-(self.size - self._begun) // self.num_shards)

    def _enter(self) -> None:
        """Moves to the next epoch if the padded epoch is over."""
        if self._taken >= self._rows():
            self._epoch, self._begun, self._taken = self._epoch + 1, 0, 0

    @property
    def next_epoch(self) -> int:
        if self.pad_last_batch:
            return self._epoch + (self._taken >= self._rows())
        return (self._begun + self._taken * self.num_shards) // self.epoch_size

    def take(self, count: int) -> SampleRefs:
        if self.pad_last_batch:
            self._enter()
        rows = np.arange(self._taken, self._taken + count, dtype=np.int64)
        self._taken += count
        first = self._begun + rows * self.num_shards
        # Rotates rows at random. Otherwise, with two alternating sources, each of two shards would get only one source.
        bits = finalized_all((first.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN)) >> np.uint64(32)
        turns = (bits * np.uint64(self.num_shards) >> np.uint64(32)).astype(np.int64)
        positions = first + (self.shard_id + turns) % self.num_shards
        padded = np.zeros(count, bool)
        if self.pad_last_batch:
            positions = np.where(
                first + self.num_shards > self.size, first + self._share_of_last(), positions
            )
            padded = positions >= self.size
            positions = np.minimum(positions, self.size - 1) + self._epoch * self.size
        return self.refs(positions)._replace(padded=padded)

    def _share_of_last(self) -> int:
        """Returns this shard's position in an epoch's incomplete last row; `num_shards` if it gets no sample of this row.

        A row has a sample for each shard. The samples of the last row go to the shards to which `Order` gives one more
        sample, because iterators compute the size of a shard as `Order` does.
        """
        left, shards = self.size - self._begun, self.num_shards
        slot = self.shard_id if self._begun else (self.shard_id + self._epoch) % shards
        larger = [left * (s + 1) // shards - left * s // shards > left // shards for s in range(shards)]
        return sum(larger[:slot]) if larger[slot] else shards

    def refs(self, positions: np.ndarray) -> SampleRefs:
        sources, places = self.at(positions)
        epochs = np.empty(len(positions), np.uint32)
        indices, identities = np.empty((2, len(positions)), np.int64)
        for source in np.unique(sources).tolist():
            order, mine = self._orders[source], sources == source
            passes, within = np.divmod(places[mine], order.size)
            found = np.empty(len(within), np.int64)
            for number in np.unique(passes).tolist():
                now = passes == number
                found[now] = self._pass(order, number).at(within[now])
            refs = order.refs(passes.astype(np.uint32), found, np.zeros(len(within), bool))
            epochs[mine], indices[mine] = refs.epochs, refs.indices + self.offsets[source]
            # Identities of samples drawn by weight must differ from all indices, and from those of other sources.
            drawn = 0 if refs.identities is None else self.count - order.count
            identities[mine] = refs.identified + self.offsets[source] + drawn
        same = np.array_equal(indices, identities)
        padded = np.zeros(len(positions), bool)
        return SampleRefs(epochs, indices, padded, None if same else identities)

    def at(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the source of each position, and the position in the stream of this source, int64 [n] each."""
        sources, places = np.empty((2, len(positions)), np.int64)
        numbers = np.searchsorted([s.start for s in self._segments], positions, side="right") - 1
        for number in np.unique(numbers).tolist():
            mine = numbers == number
            sources[mine], places[mine] = self._segments[number].at(positions[mine])
        return sources, places


def _joined(
    before: Sequence[Segment], schedule: Sequence[tuple[int, tuple[int, ...]]], now: int = 0
) -> tuple[Segment, ...]:
    """Joins the segments up to position `now` with the schedule from there on."""
    current = [shares for start, shares in schedule if start <= now][-1]
    segments = list(before)
    for start, shares in itertools.chain([(now, current)], (s for s in schedule if s[0] > now)):
        if shares != segments[-1].shares:
            segments.append(Segment(start, shares, segments[-1].counts(start)))
    return tuple(segments)
