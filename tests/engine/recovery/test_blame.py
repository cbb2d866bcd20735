"""Samples that fail: who is to blame, and what is listed."""

import numpy as np
from engine.identities import sample_ids
from support.nodes import source_node

from jdali import SampleError
from jdali._batches import Drawn, Provenance
from jdali.engine.failure import NodeFailure
from jdali.engine.recovery import Blamed, blame, to_be_listed
from jdali.engine.task import BatchTask, SampleIds
from jdali.readers.order.epochs import SampleRefs

NODE, ERROR = source_node(), SampleError("broken")


def failure(*samples):
    return NodeFailure(NODE, dict.fromkeys(samples, ERROR))


class TestBlame:
    def test_without_provenance_it_is_the_position_in_the_batch(self):
        branch = SampleIds(np.zeros(2, np.uint32), np.arange(2), np.array([3, 5]))
        assert blame(failure(1), branch, None) == {5: Blamed(ERROR)}

    def test_what_served_another_sample_well_is_not_to_blame(self):
        source = Drawn(str, np.arange(4), "source")
        made_of = Provenance((source,), np.array([[0, 1], [1, 2]]), 2)
        assert blame(failure(0), sample_ids(2), made_of) == {0: Blamed(ERROR, ["source"], ["0"])}

    def test_all_are_where_nothing_tells_them_apart(self):
        source = Drawn(str, np.arange(4))
        made_of = Provenance((source,), np.array([[0, 1], [0, 1]]), 2)
        assert set(blame(failure(0), sample_ids(2), made_of)) == {0, 1}
        assert set(blame(failure(0, 1), sample_ids(2), made_of)) == {0, 1}


def test_repetitions_and_stand_ins_are_not_listed():
    epochs, indices = np.array([0, 0, 1], np.uint32), np.array([5, 6, 0])
    refs = {"source": SampleRefs(epochs, indices, np.array([False, True, False]))}
    task = BatchTask.of(refs, {})
    blamed = {i: Blamed(ERROR, ["source"], [f"file {index}"]) for i, index in enumerate(indices)}
    listed = to_be_listed(task, "decoder", blamed)
    assert [(s.path, s.epoch, s.index) for s in listed] == [("file 5", 0, 5), ("file 0", 1, 0)]
    assert {(s.operator, s.reason) for s in listed} == {("decoder", "broken")}
    masked = task.masking(np.array([0]))
    assert [s.index for s in to_be_listed(masked, "decoder", blamed)] == [0]
