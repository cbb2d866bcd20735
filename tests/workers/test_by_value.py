"""Functions pickled by value: what they close over, the globals they use, and what stays a name."""

import functools
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from support.callbacks import Numbered
from support.faults import PATIENCE

import jdali
from jdali import fn, pickling

OFFSET = 7
TABLE = np.arange(5)


def through(value):
    return pickling.loads(pickling.dumps(value))


def by_name(value):
    return value + OFFSET


@pickling.pickle_by_value
def marked(value, *, factor=2):
    """Some words."""
    return by_name(value) * factor + int(TABLE[1])


def test_lambdas_and_local_functions_are_sent_with_what_they_use():
    step = 3

    def local(value, more=1):
        def inner():
            return [math.floor(value) + step + OFFSET + x for x in range(more)]

        return inner()

    assert through(local)(1.5, more=2) == [11, 12]
    assert through(lambda value: local(value))(0) == [10]
    assert through(functools.partial(local, 2))() == [12]


def test_code_that_looks_for_builtins_in_its_caller(tmp_path):
    np.arange(3, dtype=np.uint8).tofile(tmp_path / "numbers")
    assert through(lambda path: np.fromfile(path, np.uint8))(tmp_path / "numbers").tolist() == [0, 1, 2]


def test_a_function_that_refers_to_itself():
    def factorial(n):
        return n * factorial(n - 1) if n else 1

    assert through(factorial)(5) == 120


def test_functions_that_share_a_variable_still_do():
    count = 0

    def add():
        nonlocal count
        count += 1

    def get():
        return count

    add()
    others = through((add, get))
    others[0]()
    assert (others[1](), get()) == (2, 1)


def test_a_variable_without_a_value_yet():
    def early():
        return later

    copied = through(early)
    later = 3
    assert early() == 3
    with pytest.raises(NameError, match="later"):
        copied()


def test_marked_functions_keep_names_and_defaults():
    copied = through(marked)
    assert copied is not marked
    assert (copied.__name__, copied.__doc__, copied.__module__) == ("marked", "Some words.", __name__)
    assert copied(1) == 17
    assert through(by_name) is by_name
    assert through(math.floor) is math.floor
    assert through(np) is np


def test_only_functions_can_be_marked():
    with pytest.raises(TypeError, match="only functions can be pickled by value, not Numbered"):
        pickling.pickle_by_value(Numbered())


def test_where_the_module_cannot_be_imported():
    pid = os.getpid()
    code = "import sys, pickle; print(pickle.load(sys.stdin.buffer)(4))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickling.dumps(lambda value: value + pid), capture_output=True,
        timeout=PATIENCE, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if "tests" not in p)},
    )  # fmt: skip
    assert int(done.stdout) == pid + 4


class Pickler:
    """A pickler of a user: it notes what it was given, and puts another callback in its place."""

    def __init__(self):
        self.given = []

    def dumps(self, value, **options):
        self.given.append((value, options))
        return b"whatever"

    @staticmethod
    def loads(data, offset=0):
        return functools.partial(_numbered, offset)


def _numbered(offset, number):
    return np.int32([[number + offset]])


def test_a_pipeline_sends_its_callback_alone_through_the_users_pickler():
    pickler = Pickler()
    pipe = jdali.Pipeline(
        batch_size=1, num_threads=1, py_start_method="forkserver",
        py_callback_pickler=(pickler, {"depth": 1}, {"offset": 40}),
    )  # fmt: skip
    source = functools.partial(_numbered, 0)
    with pipe:
        pipe.set_outputs(fn.external_source(source, parallel=True))
    assert [pipe.run()[0].as_array().item() for _ in range(2)] == [40, 41]
    assert pickler.given == [(source, {"depth": 1})]
    pipe.close()


class Fails:
    """A pickler that cannot."""

    loads = pickle.loads

    @staticmethod
    def dumps(value):
        raise ValueError("not today")


def test_what_a_pickler_raises_reaches_the_user():
    pipe = jdali.Pipeline(batch_size=1, py_start_method="forkserver", py_callback_pickler=Fails)
    with pipe:
        pipe.set_outputs(fn.external_source(functools.partial(_numbered, 0), parallel=True))
    with pytest.raises(ValueError, match="not today"):
        pipe.build()


def test_the_functions_are_an_object_too():
    """For users' picklers that go on to the default one."""
    default = jdali.pickling._DaliPickle
    assert default.loads(default.dumps({"a": (1, 2)})) == {"a": (1, 2)}
    assert default.loads(default.dumps(lambda: 3))() == 3
