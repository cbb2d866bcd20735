"""Identities of samples: parts of them, and the words that programs make keys of."""

import numpy as np

from jdali.engine.task import SampleIds

IDS = SampleIds(np.uint32([0, 1, 2]), np.int64([5, 2**32 + 7, 3 * 2**32]), np.arange(3))


def test_a_part_keeps_the_positions_in_the_batch():
    part = IDS.select(np.array([2, 0]))
    assert len(part) == 2
    assert part.position.tolist() == [2, 0]
    assert part.epoch.tolist() == [2, 0]
    assert part.index.tolist() == [3 * 2**32, 5]


def test_words_are_epoch_low_and_high_word():
    words = IDS.words()
    assert words.dtype == np.uint32
    assert words.tolist() == [[0, 1, 2], [5, 7, 0], [0, 1, 3]]
