"""`for outputs in pipeline` ends with the epoch, or is refused with the reason."""

import itertools

import numpy as np
import pytest
from support.faults import in_thread
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn

pytestmark = pytest.mark.timeout(180)


def defined(define, batch_size=4, **options):
    @jdali.pipeline_def(batch_size=batch_size, num_threads=2, seed=1, **options)
    def pipeline():
        return define()

    return pipeline()


def reading(size=10, batch_size=4, name="Reader", **options):
    made = jdali.Pipeline(batch_size=batch_size, num_threads=2, seed=1)
    with made:
        made.set_outputs(numbers(NumberReader(size, **options), name))
    return made


def values(outputs):
    return np.ravel(outputs[0].as_array()).tolist()


def loops(pipe, count):
    """What some loops give; `in_thread` has a limit of time."""

    def loop():
        got = [values(outputs) for outputs in pipe]
        pipe.reset()  # without effect where a reader ends the epoch
        return got

    found = in_thread(lambda: [loop() for _ in range(count)])()
    pipe.close()
    return found


def test_with_the_reader():
    """10 samples are 3 batches, of 12; 8 are left of the second epoch; as `run` gives them."""
    numbers_of = [i % 10 for i in range(40)]
    batches = [numbers_of[i : i + 4] for i in range(0, 40, 4)]
    assert loops(reading(), 3) == [batches[:3], batches[3:5], batches[5:8]]


def test_exactly_at_the_end_of_a_batch():
    assert loops(reading(8), 2) == [[[0, 1, 2, 3], [4, 5, 6, 7]]] * 2


def test_with_a_padded_reader_and_shards():
    assert loops(reading(10, pad=True), 2) == [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 9, 9]]] * 2
    wanted = [[[0, 1, 2, 3], [4, 0, 1, 2]], [[3, 4, 0, 1]], [[2, 3, 4, 0]]]
    assert loops(reading(10, num_shards=2, stick=True), 3) == wanted


def test_epochs_smaller_than_a_batch():
    assert loops(reading(3), 2) == [[[0, 1, 2, 0]], [[1, 2, 0, 1]]]


def test_two_readers_in_step():
    made = jdali.Pipeline(batch_size=4, num_threads=2, seed=1)
    with made:
        made.set_outputs(numbers(NumberReader(8), "a"), numbers(NumberReader(8), "b"))
    assert loops(made, 2) == [[[0, 1, 2, 3], [4, 5, 6, 7]]] * 2


def test_a_loop_that_was_left_goes_on():
    pipe = reading(12)
    assert [values(outputs) for outputs in itertools.islice(pipe, 1)] == [[0, 1, 2, 3]]
    assert loops(pipe, 2) == [[[4, 5, 6, 7], [8, 9, 10, 11]], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]


def test_a_state_in_mid_epoch():
    pipe = reading(12)
    pipe.run()
    state = pipe.get_state()
    pipe.close()
    again = reading(12)
    again.set_state(state)
    assert loops(again, 1) == [[[4, 5, 6, 7], [8, 9, 10, 11]]]


LIST = [np.full((4,), i, np.int32) for i in range(2)]


@pytest.mark.parametrize("debug", [False, True])
def test_with_a_source_that_ends_and_begins_again(debug):
    pipe = defined(lambda: fn.external_source(LIST, cycle="raise"), debug=debug)
    assert loops(pipe, 3) == [[[0] * 4, [1] * 4]] * 3


def test_with_a_source_that_ends_for_good():
    assert loops(defined(lambda: fn.external_source(LIST)), 2) == [[[0] * 4, [1] * 4], []]


def test_the_end_of_a_source_is_told_up_to_the_reset():
    pipe = defined(lambda: fn.external_source(LIST, cycle="raise"))
    assert [len(list(pipe)) for _ in range(3)] == [2, 0, 0]
    pipe.reset()
    assert len(list(pipe)) == 2
    pipe.close()


def test_with_a_callback_that_ends():
    def callback(info):
        if info.iteration == 2:
            raise StopIteration
        return np.full((4,), 10 * info.epoch_idx + info.iteration, np.int32)

    pipe = defined(lambda: fn.external_source(callback, batch_info=True))
    assert loops(pipe, 2) == [[[0] * 4, [1] * 4], [[10] * 4, [11] * 4]]


def test_with_iter_setup():
    class Fed(jdali.Pipeline):
        count = 0

        def define_graph(self):
            return fn.external_source(name="x")

        def iter_setup(self):
            if self.count == 2:
                raise StopIteration
            self.feed_input("x", np.full((4,), self.count, np.int32))
            self.count += 1

    assert loops(Fed(batch_size=4, num_threads=1, seed=1, exec_async=False), 1) == [[[0] * 4, [1] * 4]]


def test_debug_mode_with_a_reader(tmp_path):
    for i in range(5):
        np.save(tmp_path / f"{i}.npy", np.int32([i]))
    pipe = defined(lambda: fn.readers.numpy(file_root=str(tmp_path)), debug=True)
    assert loops(pipe, 2) == [[[0, 1, 2, 3], [4, 0, 1, 2]], [[3, 4, 0, 1]]]


REFUSED = {
    "nothing that ends": (
        lambda: fn.random.uniform(range=(0.0, 1.0)),
        "it has neither a reader nor an external",
    ),
    "quiet": (lambda: fn.external_source(LIST, cycle="quiet"), 'cycle="quiet" and begins again at its end'),
    "fed": (
        lambda: fn.external_source(name="x"),
        "its data is fed, and nothing says which batch is the last",
    ),
    "readers": (
        lambda: (numbers(NumberReader(8), "a"), numbers(NumberReader(9), "b")),
        "its readers differ: 'a' of 8 samples, 'b' of 9 samples",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_where_nobody_knows_the_end_it_is_refused(case):
    define, words = REFUSED[case]
    pipe = jdali.Pipeline(batch_size=4, num_threads=1, seed=1)
    with pipe:
        outputs = define()
        pipe.set_outputs(*(outputs if isinstance(outputs, tuple) else [outputs]))
    with pytest.raises(TypeError, match=rf"has no end, for .*{words}.*; use jdali.iterator.DataIterator"):
        iter(pipe)
    pipe.close()


def test_debug_mode_refuses_behind_the_first_batch():
    pipe = defined(lambda: fn.random.uniform(range=(0.0, 1.0)), debug=True)
    with pytest.raises(TypeError, match="has no end"):
        in_thread(lambda: next(iter(pipe)))()
    pipe.close()
