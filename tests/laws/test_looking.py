"""Looking at a pipeline changes nothing, also where the user's code uses its memory again."""

import collections.abc
import threading

import jax.numpy as jnp
import numpy as np
import pytest

from jdali import fn, pipeline_def
from jdali.plugin.jax.fn import jax_function

BATCH, BATCHES = 4, 12
MEETINGS, PATIENCE = 4, 0.1  # calls that let others in, and seconds; nobody comes in where all is well


class Reused:
    """The user's code with one array for all results, which nothing else may call meanwhile.

    Attributes:
        overlaps: calls that came while another one was under way.
    """

    def __init__(self):
        self.array = np.zeros((BATCH, 8), np.int32)
        self.overlaps = self._met = 0
        self._busy, self._other = threading.Lock(), threading.Event()

    def filled(self, numbers):
        """The array, with a number in each row."""
        if not self._busy.acquire(blocking=False):
            self.overlaps += 1
            self._other.set()
            self.array[:] = -1
            return self.array[: len(numbers)]
        try:
            rows = self.array[: len(numbers)]
            rows[:] = np.reshape(numbers, (-1, 1))
            if self._met < MEETINGS:
                self._met += 1
                self._other.wait(PATIENCE)
            return rows
        finally:
            self._busy.release()


class Rows(collections.abc.Sequence):
    """A user's sequence of batches."""

    def __init__(self, code):
        self._code = code

    def __len__(self):
        return BATCHES

    def __getitem__(self, number):
        return self._code.filled(range(number * BATCH, (number + 1) * BATCH))


def counted():
    """The numbers 0, 1, ... from a list, which is nobody's code."""
    numbers = np.arange(BATCH * BATCHES, dtype=np.int32).reshape(BATCHES, BATCH, 1)
    return fn.external_source(source=list(numbers))


def source_of_batches(code):
    return fn.external_source(source=lambda i: code.filled(range(i * BATCH, (i + 1) * BATCH)))


def source_of_samples(code):
    return fn.external_source(source=lambda info: code.filled([info.idx_in_epoch])[0], batch=False)


def sequence(code):
    return fn.external_source(source=Rows(code))


def function_of_samples(code):
    return fn.python_function(counted(), function=lambda n: code.filled([n])[0])


def function_of_batches(code):
    return fn.python_function(counted(), function=code.filled, batch_processing=True)


def function_of_capsules(code):
    def call(numbers):
        return code.filled([np.from_dlpack(_Taken(n)) for n in numbers])

    return fn.dl_tensor_python_function(counted(), function=call, batch_processing=True)


class _Taken:
    """A capsule as NumPy takes it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0


def function_of_arrays(code):
    return jax_function(lambda numbers: jnp.array(code.filled(np.asarray(numbers))))(counted())


USER_CODE = [
    source_of_batches, source_of_samples, sequence, function_of_samples, function_of_batches, function_of_capsules,
    function_of_arrays,
]  # fmt: skip


def batches(inspector, number):
    inspector.batch(number)


def samples(inspector, number):
    inspector.trace(number, 1)


def survey(inspector, number):
    inspector.check(number + 1, lambda batch: True)


LOOKS = [batches, samples, survey]


@pytest.mark.cases(4)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("user_code", USER_CODE)
def test_looking_changes_nothing(user_code, look):
    code, over, looked = Reused(), threading.Event(), threading.Event()

    @pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
    def define():
        return user_code(code)

    errors = []

    def look_again():
        number = 0
        try:
            while not over.is_set():
                look(inspector, number % BATCHES)
                looked.set()
                number += 1
        except Exception as error:  # shown below
            errors.append(error)
        looked.set()

    pipe = define()
    pipe.build()
    inspector = pipe.inspector()
    thread = threading.Thread(target=look_again)
    thread.start()
    found = []
    for _ in range(BATCHES):
        found += [np.asarray(sample).copy() for sample in pipe.run()[0]]
    assert looked.wait(60)
    over.set()
    thread.join(60)
    inspector.close()
    pipe.close()
    assert errors == []
    assert code.overlaps == 0
    np.testing.assert_array_equal(found, np.repeat(np.arange(BATCH * BATCHES)[:, None], 8, axis=1))
