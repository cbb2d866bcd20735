"""Batches of an engine without threads: draws, steps and settling, with samples that fail."""

import pytest
from support.nodes import engine_of, rows
from support.numbers import NumberReader

from jdali import OperatorError


def numbers(result):
    (output,) = result.outputs
    return [number for (number,) in rows(output)]


def test_batches_follow_each_other_and_states_bring_them_back():
    engine = engine_of(NumberReader(7))
    first, second = engine.run(), engine.run()
    assert (numbers(first), numbers(second)) == ([0, 1, 2], [3, 4, 5])
    assert (first.nbytes, first.most_bytes) == (24, 24)  # three int64
    assert second.ids.index.tolist() == [3, 4, 5]
    engine.set_state({**first.state, "seed": 8})
    assert numbers(engine.run()) == [3, 4, 5]
    assert engine.get_state()["seed"] == 8
    engine.close()


def test_an_error_names_sample_file_and_line():
    engine = engine_of(NumberReader(7, bad=(4,)))
    engine.run()
    with pytest.raises(OperatorError, match=r"external_source: .*number 4 is bad") as caught:
        engine.run()
    assert (caught.value.sample, caught.value.source, caught.value.where) == (1, "number 4", "file.py:1")
    engine.close()


@pytest.mark.parametrize(
    ("on_error", "values", "mask"),
    [("skip", [0, 3, 2], [True] * 3), ("mask", [0, 0, 2], [True, False, True])],
)
def test_samples_that_fail_are_replaced_and_the_others_read_once(on_error, values, mask):
    read = []
    engine = engine_of(NumberReader(7, bad=(1,), delay=read.append), on_error=on_error)
    result = engine.run()
    assert numbers(result) == values
    assert result.mask.tolist() == mask
    assert [(s.path, s.index) for s in engine.feed.errors] == [("number 1", 1)]
    assert result.errors == 1
    assert read == ([0, 1, 2, 3] if on_error == "skip" else [0, 1, 2])
    engine.close()


def test_batches_on_their_way_are_settled_with_what_those_before_them_took():
    engine = engine_of(NumberReader(9, bad=(1,)), on_error="skip")
    first, second = engine.draw(), engine.draw()
    engine.advance(second)
    engine.advance(first)
    assert [numbers(engine.settle(one)) for one in (first, second)] == [[0, 3, 2], [4, 5, 6]]
    engine.close()


def test_errors_of_the_code_are_raised_whatever_on_error_says():
    class Broken(NumberReader):
        def load(self, index):
            raise KeyError("a bug")

    engine = engine_of(Broken(7), on_error="skip")
    with pytest.raises(OperatorError, match="a bug"):
        engine.run()
    engine.close()


def test_nothing_runs_once_it_is_closed():
    engine = engine_of(NumberReader(7))
    drawn = engine.draw()
    engine.interrupt()
    with pytest.raises(RuntimeError, match="the pipeline is closed"):
        engine.advance(drawn)
    engine.close()
