"""The batches between the threads that make them and those that take them: number, bytes, whose turn is next."""

from __future__ import annotations

import collections

from jdali.engine.flow.finishing import Finishing
from jdali.engine.flow.iteration import Result
from jdali.engine.flow.loose_thread import Changes


class Room:
    """Bounds the batches made ahead, by number and bytes; for one thread at a time.

    Args:
        depth: batches that may wait, at least; one more is made meanwhile.
        most_bytes: of those that wait and those under way, together; one batch is made whatever it takes.
        is_strict: as long as nothing is known of the size of batches, one is under way; else as many as `depth` says.

    Attributes:
        depth: batches that may wait now.
        largest: bytes that a batch took at most while it was made, of those made so far.
    """

    def __init__(self, depth: int, most_bytes: int, *, is_strict: bool):
        self.depth = self._least = depth
        self.most_bytes = most_bytes
        self._is_strict = is_strict
        self.largest = 0

    def fit(self, in_flight: int) -> None:
        """Has room for as many batches as are in flight."""
        self.depth = max(self._least, in_flight)

    def note(self, size: int) -> None:
        """A batch took this many bytes while it was made."""
        self.largest = max(self.largest, size)

    def allows(self, under_way: int, waiting: int, waiting_bytes: int, spare: int = 0) -> bool:
        """True if one more batch may be begun; `spare`: so many more than `depth` may wait."""
        if not under_way + waiting:
            return True
        if under_way + waiting > self.depth + spare:
            return False
        if not self.largest:
            return not self._is_strict
        return waiting_bytes + (under_way + 1) * self.largest <= self.most_bytes


class ReadyQueue:
    """Hands batches from the threads that make them to those that take them; each side waits here for the
    other.

    Args:
        room: of batches made ahead; None: there is room for all.
        when_asked: no more are begun than were asked for.
        finishing: where batches made ahead are finished, one more of them may wait.

    Attributes:
        changed: signals changes of the queue and of all else that the threads waiting here depend on.
        begun, asked, taken: how many batches so far.
    """

    def __init__(self, room: Room | None, *, when_asked: bool, finishing: Finishing | None = None):
        self.room, self._when_asked, self._finishing = room, when_asked, finishing
        self.changed = Changes()
        self.clear()

    def clear(self) -> None:
        """Nothing is under way and nothing waits."""
        self.begun = self.asked = self.taken = 0
        # An exception among them keeps its owner alive through its frames: let go of them as soon as possible.
        self._made: collections.deque[Result | BaseException] = collections.deque()

    def __len__(self) -> int:
        """Number of batches that wait."""
        return len(self._made)

    def wake(self) -> None:
        """Wakes all threads that wait, to look again."""
        with self.changed:
            self.changed.notify_all()

    @property
    def at_end(self) -> bool:
        """True if the batch that has waited longest is the end of an external source."""
        return bool(self._made) and isinstance(self._made[0], StopIteration)

    # --- called by the makers ---------------------------------------------------------------
    def begin(self) -> int | None:
        """The number of the next batch to be made; None: there is no room for it yet, or nobody asked for it."""
        with self.changed:
            if not self._may_begin():
                return None
            self.begun += 1
            return self.begun - 1

    def _may_begin(self) -> bool:
        if self._when_asked and self.begun >= self.asked:
            return False
        return self._has_room(self.begun, 0 if self._finishing is None else int(self._finishing.wanted))

    def _has_room(self, begun: int, spare: int = 0) -> bool:
        """True if there is room for one more batch than this many."""
        if self.room is None:
            return True
        waiting = len(self._made)
        waiting_bytes = sum(_bytes(outcome) for outcome in self._made)
        return self.room.allows(begun - self.taken - waiting, waiting, waiting_bytes, spare)

    def put(self, outcome: Result | BaseException) -> None:
        """Adds a batch, or what was raised in place of it."""
        with self.changed:
            self._made.append(outcome)
            if self.room is not None and isinstance(outcome, Result):
                self.room.note(outcome.most_bytes)
            self.changed.notify_all()

    # --- called by the takers ---------------------------------------------------------------
    def room_to_ask(self) -> int:
        """Returns how many more batches may be asked for: the room's depth bounds those that are not taken."""
        assert self.room is not None
        with self.changed:
            most = max(self.taken + self.room.depth - self.asked, 0)
            return next((n for n in range(most) if not self._has_room(self.asked + n)), most)

    def ask(self) -> None:
        """One more batch is asked for."""
        with self.changed:
            self.asked += 1
            self.changed.notify_all()

    def add(self, outcome: Result | BaseException) -> None:
        """One that was made where it was asked for: it is counted when it is there, nobody waits for it before."""
        with self.changed:
            self.asked += 1
            self.begun += 1
            self.put(outcome)

    def take(self) -> Result | BaseException | None:
        """The batch that has waited the longest, if one does."""
        with self.changed:
            if not self._made:
                return None
            self.taken += 1
            self.changed.notify_all()
            return self._made.popleft()


def _bytes(outcome: Result | BaseException) -> int:
    return outcome.nbytes if isinstance(outcome, Result) else 0
