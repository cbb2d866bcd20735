"""Advice to the system about what is read next."""

import numpy as np

from jdali._storage.record_files import Advice

MB = 1 << 20


def test_the_system_reads_ahead_of_a_window_that_moves():
    sizes = [30 * MB, 0, 100 * MB]
    calls = []
    advice = Advice(sizes, lambda *call: calls.append(call))
    window = 10 * MB

    def position(at):
        return (0, at) if at < sizes[0] else (2, at - sizes[0])

    for _ in range(2):
        calls.clear()
        for begin in range(0, 120 * MB, MB):
            advice.reads(position(begin), position(begin + window))
            asked = sum(size for *_, size in calls)
            assert min(begin + window + 8 * MB, 130 * MB) <= asked <= begin + window + 16 * MB
        # All was asked for once, in order.
        starts = [offset + (0, 0, sizes[0])[file] for file, offset, _ in calls]
        assert starts == np.cumsum([0, *(size for *_, size in calls[:-1])]).tolist()
        assert sum(size for *_, size in calls) == 130 * MB
        assert max(size for *_, size in calls) <= 128 << 10
    # Elsewhere it begins where reading begins.
    calls.clear()
    advice.reads((0, 5 * MB), (0, 6 * MB))
    assert calls[0][:2] == (0, 5 * MB)
    assert sum(size for *_, size in calls) == 17 * MB
