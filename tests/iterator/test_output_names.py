"""Names of outputs that the function of the pipeline gives: by a dict, or by its annotation."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import jax
import numpy as np
import pytest

from jdali import fn, pipeline_def
from jdali.iterator import DataIterator


class Batch(TypedDict):
    first: jax.Array
    second: jax.Array


class Outputs(NamedTuple):
    first: object
    second: object


def _numbers():
    return fn.external_source([[np.int32([i])] for i in range(2)], cycle="raise")


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def as_dict():
    numbers = _numbers()
    return {"first": numbers, "second": numbers * 2}


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def annotated() -> Batch:
    numbers = _numbers()
    return numbers, numbers * 2  # type: ignore[return-value]  # a dict is what the annotation says


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def as_fields() -> Outputs:
    numbers = _numbers()
    return Outputs(numbers, numbers * 2)


@pipeline_def(batch_size=1, num_threads=1, device_id=None, enable_conditionals=True)
def with_conditionals():
    numbers = _numbers()
    if numbers[0] > 0:
        other = numbers * 2
    else:
        other = numbers
    return {"first": numbers, "second": other}


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def without():
    numbers = _numbers()
    return numbers, numbers * 2


@pytest.mark.parametrize("factory", [as_dict, annotated, as_fields, with_conditionals])
def test_the_function_names_them(factory) -> None:
    pipe = factory()
    assert pipe.output_names == ("first", "second")
    batches = [{name: value.item() for name, value in batch.items()} for batch in DataIterator(pipe)]
    assert batches == [{"first": 0, "second": 0}, {"first": 1, "second": 2}]


def test_a_typed_dict_names_them() -> None:
    assert next(DataIterator(without(), Batch)).keys() == {"first", "second"}


def test_a_list_goes_before_the_function() -> None:
    assert next(DataIterator(as_dict(), ["a", "b"])).keys() == {"a", "b"}


def test_outputs_without_names_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"have no names: give output_map, as in DataIterator\(pipe, \['images', 'labels'\]"
    ):
        DataIterator(without())
    with pytest.raises(TypeError, match=r"a list of names, one for each output: \['images'\]"):
        DataIterator(without(), "images")
