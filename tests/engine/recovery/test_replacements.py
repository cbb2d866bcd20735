"""Replacing the samples of a batch: by the reader's next ones, by good ones of the batch, or by none."""

import numpy as np
import pytest
from engine.tasks.identities import sample_ids
from engine.tasks.replacing import Epoch
from support.numbers import NumberReader

from jdali import SampleError
from jdali._batches import Drawn
from jdali.engine.recovery.blame import Blamed
from jdali.engine.recovery.refill import StandIns
from jdali.engine.recovery.replacements import Replacements
from jdali.engine.tasks.batch_task import BatchTask, SourceData
from jdali.engine.tasks.leads import Leads, Positions

BAD = Blamed(SampleError("broken"))


def test_copies_of_a_bad_sample_are_bad():
    batch = Replacements(Positions(), {1: 7, 4: 7, 5: 8}, {2: 0, 3: 0})
    assert batch.with_their_copies({2: BAD}) == dict.fromkeys([0, 2, 3], BAD)
    assert batch.with_their_copies({1: BAD}) == dict.fromkeys([1, 4], BAD)


class TestDataOfTheUser:
    def task(self, values):
        data = {"fed": SourceData(([np.array(value) for value in values],), ("",))}
        return BatchTask(sample_ids(len(values)), np.ones(len(values), bool), {}, data)

    def values(self, task):
        return [sample.item() for (output,) in [task.data["fed"].outputs] for sample in output]

    def replaced(self, batch, task, bad, on_error):
        return batch.replace(task, dict.fromkeys(bad, BAD), Leads(()), StandIns(), on_error)

    @pytest.mark.parametrize("on_error", ["mask", "skip"])
    def test_a_good_one_is_repeated(self, on_error):
        batch, task = Replacements(Positions()), self.task("abcd")
        other, changed = self.replaced(batch, task, [0, 2], on_error)
        assert changed == {0, 2}
        assert self.values(other) == ["b", "b", "b", "d"]
        assert other.ids.index.tolist() == [1, 1, 1, 3]
        assert other.mask.tolist() == [False, True, False, True]
        assert batch.copied_from == {0: 1, 2: 1}
        assert (self.values(task), task.mask.all()) == (["a", "b", "c", "d"], True)  # as it was

    @pytest.mark.parametrize("on_error", ["mask", "skip"])
    def test_nothing_is_left_where_all_are_bad(self, on_error):
        other, _ = self.replaced(Replacements(Positions()), self.task("ab"), [0, 1], on_error)
        assert len(other) == 0
        assert self.values(other) == []


class TestSamplesOfReaders:
    @pytest.fixture
    def epoch(self):
        return Epoch(NumberReader(10))

    def settled(self, epoch):
        drawn = epoch.draw()
        return Replacements(drawn.positions), BatchTask.of(epoch.leads.settle(drawn.positions), {})

    def replaced(self, epoch, batch, task, bad, on_error):
        source = Drawn(str, task.ids.index, "source")
        blamed = dict.fromkeys(bad, Blamed(SampleError("broken"), [source]))
        other, changed = batch.replace(task, blamed, epoch.leads, StandIns(), on_error)
        assert changed == set(bad)
        assert other.ids.index.tolist() == other.refs["source"].indices.tolist()
        return other

    def test_skipped_ones_are_the_next(self, epoch):
        batch, task = self.settled(epoch)
        other = self.replaced(epoch, batch, task, [0, 3], "skip")
        assert other.ids.index.tolist() == [4, 1, 2, 5]
        assert other.mask.all()

    def test_masked_ones_repeat_a_good_one(self, epoch):
        batch, task = self.settled(epoch)
        other = self.replaced(epoch, batch, task, [0, 3], "mask")
        assert other.ids.index.tolist() == [1, 1, 2, 1]
        assert other.mask.tolist() == [False, True, True, False]
        # The copied one is bad as well: another good one takes its position, and those of its copies.
        assert batch.with_their_copies({0: BAD}).keys() == {0, 1, 3}
        again = self.replaced(epoch, batch, other, [0, 1, 3], "mask")
        assert again.ids.index.tolist() == [2, 2, 2, 2]
        assert again.mask.tolist() == [False, False, True, False]

    def test_a_batch_without_good_ones_shows_what_follows_and_then_any(self, epoch):
        batch, task = self.settled(epoch)
        seen = []
        for _ in range(3):
            task = self.replaced(epoch, batch, task, [0, 1, 2, 3], "mask")
            seen.append(task.ids.index.tolist())
        assert seen == [[4, 5, 6, 7], [8, 9, 8, 9], [0, 0, 0, 0]]
        assert batch.stand_ins == {0: 0, 1: 0, 2: 0, 3: 0}
        assert not task.mask.any()
