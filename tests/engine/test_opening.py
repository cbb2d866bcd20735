"""Opening readers: seeds, what the engine adds to their arguments, and errors."""

import dataclasses

import pytest

from jdali import OperatorError
from jdali._operators.record import REGISTRY
from jdali.engine.cursor import open_reader
from jdali.graph import Graph


@pytest.fixture
def files(tmp_path):
    for i in range(20):
        (tmp_path / f"{i:02}.bin").write_bytes(bytes([i]))
    return {"file_root": str(tmp_path), "files": tuple(f"{i:02}.bin" for i in range(20))}


def node_of(named, **changed):
    """A node of `readers.file` with these arguments; `changed` are fields of the operator's record."""
    op = dataclasses.replace(REGISTRY["readers.file"], **changed)
    return Graph().add(op, (), named, device="cpu", where="file.py:1")


def order(args, seed):
    return open_reader(node_of(args), seed).take(20)[1].tolist()


def test_a_reader_without_a_seed_takes_that_of_its_owner(files):
    shuffled = files | {"random_shuffle": True}
    assert order(shuffled, 3) != order(shuffled, 4)
    for none in ({"seed": -1}, {"seed": None}):
        assert order(shuffled | none, 3) == order(shuffled, 3)
    assert order(shuffled | {"seed": 3}, 4) == order(shuffled, 3)


def test_a_reader_that_asks_for_it_knows_if_errors_are_tolerated(files):
    passed = []

    def opened(*, _goes_on=None, **args):
        passed.append(_goes_on)
        return REGISTRY["readers.file"].run(**args)

    asking = REGISTRY["readers.file"].args
    others = {name: arg for name, arg in asking.items() if name != "_goes_on"}
    for args in (asking, others):
        for tolerates_errors in (False, True):
            open_reader(node_of(files, run=opened, args=args), 1, tolerates_errors=tolerates_errors)
    assert passed == [False, True, None, None]


@pytest.mark.parametrize("text", ["no such folder", "readers.file: no such folder"])
def test_a_reader_that_cannot_be_opened_is_named_once(files, text):
    def fail(**_):
        raise FileNotFoundError(text)

    with pytest.raises(OperatorError, match=r"^readers\.file: no such folder\n.*file\.py:1") as caught:
        open_reader(node_of(files, run=fail), 1)
    assert isinstance(caught.value, FileNotFoundError)
    assert (caught.value.operator, caught.value.where) == ("readers.file", "file.py:1")
    with pytest.raises(OperatorError, match=r"^readers\.file: no such folder$"):
        open_reader(node_of(files, run=fail), 1, where="")
