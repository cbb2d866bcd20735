"""Marking a pipeline function, and serializing the one that a module has."""

import types

import numpy as np
import pytest

import jdali
from jdali import fn, pipeline_def
from jdali.plugin import triton


def module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    return made


def marked():
    @triton.autoserialize
    @pipeline_def(batch_size=2, num_threads=1)
    def served():
        return fn.external_source(name="input") + 1

    return served


def test_the_marked_pipeline_is_written(tmp_path):
    inner = module("inner", served=marked(), other=len)
    inner.inner = inner
    path = tmp_path / "model.dali"
    triton.invoke_autoserialize(module("outer", imported=inner), str(path))
    pipe = jdali.Pipeline.deserialize(filename=str(path))
    (out,) = pipe.run(input=np.int32([3, 4]))
    assert out.as_array().tolist() == [4, 5]
    pipe.close()


def test_exactly_one_must_be_marked(tmp_path):
    path = str(tmp_path / "model.dali")
    with pytest.raises(
        RuntimeError, match="Precisely one autoserialize function must exist in the module.*none"
    ):
        triton.invoke_autoserialize(module("empty"), path)
    with pytest.raises(RuntimeError, match=r"Precisely one .*served, .*served"):
        triton.invoke_autoserialize(module("double", one=marked(), two=marked()), path)


def test_only_pipelines_can_be_marked():
    with pytest.raises(TypeError, match="Only `@pipeline_def` can be decorated with `@triton.autoserialize`"):
        triton.autoserialize(lambda: 1)
