"""Steps whose samples take microseconds: side by side, their threads would mostly wait for the GIL."""

from __future__ import annotations


class BriefWork:
    """Decides if the batches of a step are made in turns, each in one thread.

    A sample that takes some microseconds is a few short calls, during which a thread lets go of the GIL. Of several
    threads that do so each finds it taken when it comes back, and to be woken then takes longer than the call did: two
    that decode pictures of 8×8 pixels take 1.8 times the processor time of one, and no less time by the clock. With
    pictures of 64×64 pixels it is 1.05 times, and two threads are worth it.

    Decided by the time that the batch before has taken, so it follows the data; what comes does not depend on it.
    """

    # Processor time of a brief sample, seconds; and how many times as long it may take by the clock, on a busy machine:
    # work that waits for a disk or a server gains by threads. What is brief stays so up to SLACK times as much.
    MOST_SECONDS, MOST_WAITING, SLACK = 30e-6, 4.0, 1.5

    def __init__(self) -> None:
        self.is_brief = False

    def note(self, samples: int, cpu: float, busy: float) -> None:
        """Records a batch of `samples` samples: processor time, and time by the clock, seconds of all threads."""
        slack = self.SLACK if self.is_brief else 1.0
        self.is_brief = cpu <= slack * self.MOST_SECONDS * samples and busy <= slack * self.MOST_WAITING * cpu
