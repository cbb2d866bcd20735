"""Tasks that a process makes in one go: results side by side in one memory, errors of their own, the log of deaths."""

import mmap
import os
import pickle
import signal

import numpy as np
import pytest

from jdali._workers import (
    GroupTask,
    StartGroups,
    TaskKilledError,
    answer_memory,
    answering_in,
    pack,
    pack_group,
    unpack,
)
from jdali._workers.by_value import pack_by_value
from jdali._workers.jobs import PackedMemory
from jdali._workers.pool import TaskPool
from jdali._workers.process import FreshProcesses
from jdali._workers.task_group import TaskGroup, make_group

SIZE = 2000  # bytes of a result


def task(value):
    packed, buffers = pack(value)
    return GroupTask(packed.head, tuple(np.frombuffer(buffer, np.uint8) for buffer in buffers))


def group_of(*values):
    return TaskGroup(np.zeros(1, np.int64), tuple(map(task, values)))


def in_answer(number):
    """A result that is made in the memory of the answer."""
    if number < 0:
        raise KeyError(number)
    memory = answer_memory()
    array = np.empty(SIZE, np.uint8) if memory is None else np.frombuffer(memory, np.uint8, SIZE)
    array[:] = number
    return array


@pytest.mark.parametrize("size", [None, 10 * SIZE])
def test_results_lie_side_by_side_in_the_memory_of_the_answer(size):
    whole = None if size is None else mmap.mmap(-1, size)
    with answering_in(whole, lambda _: None):
        outcomes = make_group(in_answer, group_of(1, 2, 3))
    assert [outcome.value().tolist() for outcome in outcomes] == [[n] * SIZE for n in (1, 2, 3)]
    assert [outcome.nbytes for outcome in outcomes] == [SIZE] * 3
    if whole is not None:
        packed, _ = pack(outcomes, memory=whole)
        assert packed.spans == ((0, SIZE), (2048, SIZE), (4096, SIZE))
        assert unpack(packed, whole)[2].value().tolist() == [3] * SIZE


def test_memory_that_is_full_is_not_written_to():
    """The third result finds less than it needs, and takes memory of its own."""

    def make(number):
        free = len(answer_memory())
        return in_answer(number) if free >= SIZE else np.full(SIZE, number, np.uint8)

    whole = mmap.mmap(-1, mmap.PAGESIZE)
    with answering_in(whole, lambda _: None):
        outcomes = make_group(make, group_of(1, 2, 3))
    assert [outcome.value()[0] for outcome in outcomes] == [1, 2, 3]


def test_an_error_is_that_of_one_task():
    outcomes = make_group(in_answer, group_of(1, -1, 2))
    assert [outcome.is_error for outcome in outcomes] == [False, True, False]
    assert repr(outcomes[1].value()) == "KeyError(-1)"
    unsendable = make_group(lambda number: (lambda: number) if number else number, group_of(0, 1))
    assert [outcome.is_error for outcome in unsendable] == [False, True]


def test_a_task_that_is_alone_keeps_notes_and_memory_of_the_answer():
    whole = mmap.mmap(-1, 10 * SIZE)
    with answering_in(whole, lambda _: None):
        assert make_group(lambda _: answer_memory() is whole, group_of(1))[0].value()


def test_the_log_has_the_task_that_was_begun_last():
    group = group_of(1, 2, 3)

    def dies(number):
        if number == 2:
            raise SystemExit
        return number

    with pytest.raises(SystemExit):
        make_group(dies, group)
    assert group.log.tolist() == [2]


def test_arrays_of_tasks_come_along():
    packed, arrays = pack_group([task(np.full(1000, n, np.int16)) for n in range(3)])
    outcomes = make_group(np.sum, pickle.loads(packed.head, buffers=arrays))
    assert [int(outcome.value()) for outcome in outcomes] == [0, 1000, 2000]


def test_a_process_that_dies_leaves_the_log():
    def start():
        def make(number):
            if number == 5:
                os.kill(os.getpid(), signal.SIGSEGV)
            return number

        return make

    pool = TaskPool(1, FreshProcesses(pack_by_value(StartGroups(start)), {}))
    packed, arrays = pack_group([task(n) for n in range(8)])
    content = PackedMemory.of(packed, [memoryview(array) for array in arrays])
    mapped = content.memory.map()
    try:
        with pytest.raises(TaskKilledError, match="SIGSEGV"):
            pool.submit(content).result(60)
    finally:
        pool.close()
    assert np.frombuffer(mapped, np.int64, 1, packed.spans[0][0]).tolist() == [6]
