"""Batches whose arrays are made before they are asked for: by whom, how many, and those that were not expected."""

import gc
import threading
import weakref

import numpy as np
import pytest
from support.faults import until
from support.numbers import pipeline

import jdali
from jdali import fn
from jdali.iterator import DataIterator, IteratorError, LastBatchPolicy
from jdali.iterator.assemble import Assembler


class Spy(DataIterator):
    """Notes the thread of each call of its assembler, which fails for the calls numbered in `fails`."""

    fails: tuple[int, ...] = ()

    def _assembler(self, *args, **options):
        self.threads = threads = []
        assemble, fails = super()._assembler(*args, **options), self.fails

        class Noted(Assembler):
            def __call__(self, outputs, rows, mask):
                threads.append(threading.current_thread().name)
                if len(threads) - 1 in fails:
                    raise IteratorError("out of luck")
                return assemble(outputs, rows, mask)

        return Noted(self.output_map)


def rows(batch):
    return np.ravel(batch["x"]).tolist()


def threads_of(it, name):
    return [thread for thread in it.threads if thread.startswith(name)]


def test_arrays_are_made_by_the_threads_that_make_batches():
    with Spy(pipeline(8, 2), ["x"], reader_name="Reader") as it:
        for _ in range(2):
            assert [rows(batch) for batch in it] == [[0, 1], [2, 3], [4, 5], [6, 7]]
        assert set(it.threads) == {"jdali-executor"}


def test_without_prefetching_they_are_made_by_the_thread_that_asks():
    with Spy(pipeline(8, 2, pipeline_args={"exec_async": False}), ["x"], reader_name="Reader") as it:
        assert len(list(it)) == 4
        assert it.threads == [threading.current_thread().name] * 4


@pytest.mark.parametrize("depth", [1, 3])
def test_so_many_are_ready_before_any_is_taken(depth):
    """Those that wait, the one that is made meanwhile, and one that is on its devices."""
    options = {"prefetch_queue_depth": depth}
    with Spy(pipeline(100, 2, pipeline_args=options), ["x"], reader_name="Reader") as it:
        assert until(lambda: len(it.threads) == depth + 2)
        assert not until(lambda: len(it.threads) > depth + 2, 0.3)
        assert rows(next(it)) == [0, 1]


def test_the_last_batch_of_an_epoch_is_expected_with_fewer_samples():
    with Spy(pipeline(5, 2), ["x"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL) as it:
        for _ in range(3):
            assert [len(batch["x"]) for batch in it] == [2, 2, 1]
        assert set(it.threads) == {"jdali-executor"}


def test_epochs_that_last_until_a_source_ends_are_known_when_it_does():
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1)
    with pipe:
        pipe.set_outputs(fn.external_source([np.full((2, 1), i) for i in range(3)], cycle="raise"))
    with Spy(pipe, ["x"], auto_reset=True) as it:
        for _ in range(3):
            assert [rows(batch) for batch in it] == [[i, i] for i in range(3)]
        assert set(it.threads) == {"jdali-executor"}


def test_batches_of_several_pipelines_are_made_when_the_last_part_is_there():
    pipes = [pipeline(16, 2, shard_id=i, num_shards=2, stick=True) for i in range(2)]
    with Spy(pipes, ["x"], reader_name="Reader") as it:
        for _ in range(2):
            assert [rows(batch) for batch in it] == [[i, i + 1, i + 8, i + 9] for i in (0, 2, 4, 6)]
        assert set(it.threads) == {"jdali-executor"}


def test_batches_made_before_the_iterator_was_there_are_in_it():
    pipe = pipeline(16, 2)
    pipe.run()
    assert until(lambda: pipe.internals().window.ready == 3)
    with Spy(pipe, ["x"], size=14) as it:
        assert [rows(batch) for batch in it] == [[i, i + 1] for i in range(2, 16, 2)]
        assert threads_of(it, "jdali-executor")


def test_a_batch_that_the_user_takes_from_the_pipeline_is_his():
    """The others move up, and the last one of the epoch has other samples than was expected."""
    pipe = pipeline(100, 2)
    with Spy(pipe, ["x"], size=9, last_batch_policy=LastBatchPolicy.PARTIAL) as it:
        assert rows(next(it)) == [0, 1]
        assert np.ravel(pipe.run()[0].as_array()).tolist() == [2, 3]
        assert [rows(batch) for batch in it] == [[4, 5], [6, 7], [8, 9], [10]]


def test_a_batch_that_the_user_takes_from_one_of_several_pipelines_is_his():
    """The pipelines are out of step from then on; batches are assembled ahead again soon."""
    pipes = [pipeline(16, 2, shard_id=i, num_shards=2, stick=True) for i in range(2)]
    with Spy(pipes, ["x"], reader_name="Reader") as it:
        assert rows(next(it)) == [0, 1, 8, 9]
        assert np.ravel(pipes[0].run()[0].as_array()).tolist() == [2, 3]
        assert [rows(batch) for batch in it] == [[4, 5, 10, 11], [6, 7, 12, 13], [0, 1, 14, 15]]
        for _ in range(4):
            assert [rows(batch)[2:] for batch in it] == [[8, 9], [10, 11], [12, 13], [14, 15]]
        assert it.threads[-1] == "jdali-executor"


def test_an_error_is_raised_for_the_batch_that_it_belongs_to():
    """The first attempt was in a thread of the pipeline: the user's thread tries once more, and raises."""

    class Fails(Spy):
        fails = (2, 6)  # the third batch: of four that were assembled ahead, and again

    pipe = pipeline(40, 2, pipeline_args={"prefetch_queue_depth": 2})
    with Fails(pipe, ["x"], reader_name="Reader") as it:
        got = []
        assert until(lambda: len(it.threads) == 4)
        got.append(rows(next(it)))
        assert until(lambda: len(it.threads) == 5)
        got.append(rows(next(it)))
        assert until(lambda: len(it.threads) == 6)
        with pytest.raises(IteratorError, match="out of luck"):
            next(it)
        got += [rows(next(it)) for _ in range(4)]
        assert got == [[i, i + 1] for i in (0, 2, 6, 8, 10, 12)]


def test_nothing_is_lost_with_an_iterator_that_is_dropped():
    pipe = pipeline(40, 2)
    it = Spy(pipe, ["x"], size=40)
    assert rows(next(it)) == [0, 1]
    threads = it.threads
    assert until(lambda: len(threads) == 5)
    assembly = weakref.ref(it._stream.assembly)
    del it
    gc.collect()
    assert until(lambda: assembly() is None)
    assert np.ravel(pipe.run()[0].as_array()).tolist() == [2, 3]
    with Spy(pipe, ["x"], size=40) as again:
        assert rows(next(again)) == [4, 5]
    assert len(threads) == 5  # nobody wants its arrays any more
