"""A pipeline once more: the same batches from the beginning, with sources and options of its own."""

import numpy as np
import pytest

from jdali import Pipeline, fn, pipeline_def
from jdali._pipeline import copied


@pipeline_def(batch_size=4, num_threads=1, seed=5, enable_conditionals=True)
def with_everything():
    fn.random.uniform()  # nobody uses it, and the numbers of the others count from it
    number = fn.external_source(lambda info: np.int64(info.idx_in_epoch), batch=False)
    if number % 2 == 0:
        value = fn.python_function(number, function=lambda x: x * 10, num_outputs=1)
    else:
        value = number + fn.random.uniform(range=[0, 1000], dtype=np.int64)
    return number, value


def values(pipeline, batches):
    return [
        [np.asarray(x).tolist() for out in pipeline.run() for x in out.to_samples()] for _ in range(batches)
    ]


def test_it_gives_the_same_from_the_beginning():
    first = with_everything()
    expected = values(first, 3)
    again = copied(first)
    assert values(again, 3) == expected
    more = values(first, 1)  # neither disturbs the other
    assert values(again, 1) == more


def test_options():
    first = with_everything()
    again = copied(first, batch_size=2, num_threads=2)
    assert "not built" in repr(first)  # nothing of it is opened or started
    assert (again.batch_size, again.num_threads, again.seed) == (2, 2, 5)
    (one, two), (four,) = values(again, 2), values(first, 1)
    assert one[:2] + two[:2] + one[2:] + two[2:] == four


def test_names_and_what_is_fed():
    with Pipeline(batch_size=2, num_threads=1) as first:
        first.set_outputs(fn.external_source(name="x"))
    first.feed_input("x", [np.int32(1), np.int32(2)])
    again = copied(first)
    assert again.fed_inputs == ["x"]
    again.feed_input("x", [np.int32(7)])
    assert values(again, 1) == [[7]]
    assert values(first, 1) == [[1, 2]]


def test_debug_mode_has_no_graph():
    with pytest.raises(ValueError, match="debug mode"):
        copied(with_everything(debug=True))
