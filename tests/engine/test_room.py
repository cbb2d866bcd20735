"""How many batches are begun ahead: by their number and by their bytes."""

import threading

import numpy as np
import pytest
from support.faults import PATIENCE, first, in_thread, until
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali.engine.in_flight import Room

MIB = 1 << 20


def room(depth=3, most=10 * MIB, strict=False, largest=0):
    made = Room(depth, most, is_strict=strict)
    made.note(largest)
    return made


def allowed(rule, waiting_bytes=0, waiting=0):
    """How many batches are under way when no other one may be begun."""
    return next(n for n in range(100) if not rule.allows(n, waiting, waiting_bytes))


def test_by_number():
    """So many may wait, and one is made meanwhile."""
    assert [allowed(room(depth)) for depth in (1, 2, 3)] == [2, 3, 4]
    assert [allowed(room(3), waiting=waiting) for waiting in range(5)] == [4, 3, 2, 1, 0]


def test_by_bytes():
    assert allowed(room(depth=50, largest=MIB)) == 10
    assert allowed(room(depth=50, largest=MIB), waiting=2, waiting_bytes=4 * MIB) == 6
    assert allowed(room(depth=50, largest=MIB), waiting=2, waiting_bytes=10 * MIB) == 0
    assert allowed(room(depth=50, largest=6 * MIB)) == 1


def test_one_batch_is_made_whatever_it_takes():
    assert allowed(room(most=1, largest=MIB)) == 1
    assert allowed(room(most=1, strict=True)) == 1


def test_as_long_as_nothing_is_known():
    assert allowed(room(depth=3)) == 4
    assert allowed(room(depth=3, strict=True)) == 1
    assert allowed(room(depth=3, strict=True, largest=1)) == 4


def test_the_largest_counts():
    rule = room(depth=50, largest=2 * MIB)
    rule.note(MIB)
    assert rule.largest == 2 * MIB
    assert allowed(rule) == 5


# Bytes that batches made ahead may take, and batches that are begun when one was taken, of 2 MiB each.
BOUNDS = [(1, 2), (5 * MIB, 3), (7 * MIB, 4), (1 << 40, 6)]


@pytest.mark.cases(2)
@pytest.mark.parametrize(("most", "begun"), BOUNDS)
def test_no_more_batches_are_begun_than_there_is_room_for(most, begun):
    read = []
    with jdali.Pipeline(
        batch_size=2, num_threads=1, seed=1, prefetch_queue_depth=4, max_prefetch_bytes=most
    ) as pipe:
        number = numbers(NumberReader(100, delay=read.append))
        pipe.set_outputs(fn.python_function(number, function=lambda x: np.full(MIB, x // 2, np.uint8)))
    assert first(pipe.run()) == 0
    assert until(lambda: len(read) == 2 * begun)
    assert not until(lambda: len(read) > 2 * begun, 0.3)
    assert [first(pipe.run()) for _ in range(8)] == list(range(1, 9))
    pipe.close()


@pytest.mark.cases(2)
@pytest.mark.parametrize(("most", "begun"), [*BOUNDS[:-1], (1 << 40, 5)])
def test_no_more_batches_are_drawn_for_the_user_than_there_is_room_for(most, begun):
    """Before the first batch is there, one; before the second, it and as many as there is room for."""
    drawn = []

    def source():
        for i in range(100):
            drawn.append(i)
            yield np.full((2, MIB), i, np.uint8)

    pipe = jdali.Pipeline(
        batch_size=2, num_threads=1, seed=1, prefetch_queue_depth=4, max_prefetch_bytes=most
    )
    with pipe:
        pipe.set_outputs(fn.external_source(source=source))
    assert (first(pipe.run()), len(drawn)) == (0, 1)
    assert (first(pipe.run()), len(drawn)) == (1, begun)
    assert [first(pipe.run()) for _ in range(8)] == list(range(2, 10))
    pipe.close()


def test_the_first_batch_is_made_alone_if_there_is_a_bound():
    drawn, opened = [], threading.Event()

    def held(value):
        assert opened.wait(PATIENCE)
        return value

    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1, max_prefetch_bytes=MIB)
    with pipe:

        def generate():
            for i in range(9):
                drawn.append(i)
                yield np.full((1, 8), i, np.uint8)

        pipe.set_outputs(fn.python_function(fn.external_source(source=generate), function=held))
    with pipe:
        pipe.build()
        result = in_thread(pipe.run)
        assert until(lambda: drawn)
        assert not until(lambda: len(drawn) > 1, 0.3)
        opened.set()
        assert first(result()) == 0
        assert first(pipe.run()) == 1
        assert len(drawn) == 3  # another one beside that


def test_what_values_share_counts_once():
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1)
    with pipe:
        value = fn.external_source(source=lambda i: np.full((2, MIB), i, np.uint8))
        turned = fn.permute_batch(value, indices=[1, 0])
        pipe.set_outputs(value, turned)
    with pipe:
        result = pipe.run_result()
        assert result.nbytes == result.most_bytes == 2 * MIB
        assert "made ahead: 2 batches" in pipe.plan()
        assert "one takes up to 2.0 MiB" in pipe.plan()


def test_bad_options():
    with pytest.raises(ValueError, match="max_prefetch_bytes must be at least 1, not 0"):
        jdali.Pipeline(batch_size=1, max_prefetch_bytes=0)
