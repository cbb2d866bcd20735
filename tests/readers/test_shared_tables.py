"""Tables that workers share: computed once, and used by whoever opens the reader again."""

import pickle

import numpy as np
import pytest

from jdali._storage.name_table import NameTable
from jdali.readers.shared_tables import noting, reusing, shared

NAMES = ["a/0.png", "ü/1.png", "", "\udcff.png"]


def test_a_table_is_computed_where_there_is_none_and_noted():
    with noting() as noted:
        assert shared("one", lambda: [1]) == [1]
    assert shared("two", lambda: [2]) == [2]
    assert noted == {"one": [1]}


def test_a_known_table_is_not_computed_again():
    with reusing({"one": [1]}):
        assert shared("one", lambda: pytest.fail("it is known")) == [1]
        assert shared("two", lambda: [2]) == [2]
    assert shared("one", lambda: [3]) == [3]


def test_names_travel_as_arrays_without_a_copy():
    table = NameTable.of(NAMES * 200).with_others({3: "another"})
    buffers = []
    head = pickle.dumps(table, 5, buffer_callback=buffers.append)
    assert len(head) < 1000
    back = pickle.loads(head, buffers=buffers)
    expected = NAMES * 200
    expected[3] = "another"
    assert list(back) == expected
    assert back[-1] == expected[-1]
    assert back.take(np.array([1, 3])) == [NAMES[1], "another"]
    assert np.shares_memory(np.frombuffer(back.text, np.uint8), np.frombuffer(buffers[0].raw(), np.uint8))
    assert list(NameTable.joined([back, back])) == 2 * expected
    assert list(pickle.loads(pickle.dumps(back))) == expected
