"""Names of outputs that the function of the pipeline gives: by a dict, or by its annotation."""

from __future__ import annotations

import copy
from typing import NamedTuple, TypedDict

import jax
import numpy as np
import pytest

from jdali import Pipeline, fn, pipeline_def
from jdali.iterator import DataIterator, LastBatchPolicy

PAD = LastBatchPolicy.PAD


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


class Defined(Pipeline):
    def define_graph(self):
        numbers = _numbers()
        return {"first": numbers, "second": numbers * 2}


def test_a_class_names_them() -> None:
    assert next(DataIterator(Defined(batch_size=1, num_threads=1))).keys() == {"first", "second"}


@pytest.mark.parametrize("remade", [lambda pipe: Pipeline.deserialize(pipe.serialize()), copy.copy])
def test_they_are_kept_in_bytes(remade) -> None:
    @pipeline_def(batch_size=1, num_threads=1)
    def define():
        return {"first": fn.random.uniform(), "second": fn.random.normal()}

    assert remade(define()).output_names == ("first", "second")


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


class Masked(TypedDict):
    images: jax.Array
    images_extent: jax.Array
    labels: jax.Array
    mask: jax.Array


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def ragged() -> Masked:
    images = fn.external_source([[np.zeros(1), np.zeros(2)], [np.zeros(3)]], cycle="raise")
    return images, fn.external_source([[np.int32([0])] * 2, [np.int32([1])]], cycle="raise")  # type: ignore[return-value]


@pytest.mark.parametrize("output_map", [Masked, None])
@pytest.mark.parametrize("padded", ["pad", ["images"]])
def test_mask_and_sizes_may_be_declared(output_map, padded) -> None:
    with DataIterator(ragged(), output_map, size=3, last_batch_policy=PAD, ragged=padded) as batches:
        assert batches.output_map == ["images", "labels"]
        of_labels = {"labels_extent"} if padded == "pad" else set()
        assert next(batches).keys() == {*Masked.__annotations__, *of_labels}


def test_a_declared_mask_that_is_none() -> None:
    with pytest.raises(ValueError, match="'mask' is declared, and there is no mask: give last_batch_policy="):
        DataIterator(ragged(), Masked, ragged=["images"])
