"""Options of a pipeline: set at construction, read-only after that; `Pipeline`'s methods are its own."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest
from support import oracle

import jdali
import jdali._pipeline.config as _config
from jdali import fn
from jdali._pipeline.copying import copied

# A value of each option that is not its default.
VALUES = {
    "batch_size": 3, "num_threads": 1001, "device_id": 1, "seed": 7, "exec_pipelined": False, "exec_async": False,
    "prefetch_queue_depth": 4, "enable_checkpointing": True, "py_num_workers": 3, "py_start_method": "spawn",
    "py_timeout": 2.5, "on_error": "skip", "max_compiles": 9, "max_prefetch_bytes": 10, "max_idle_bytes": 11,
    "scaled_decoding": True, "exact_shapes": True, "workers": 3, "min_workers": 2, "max_workers": 4,
    "debug": True, "bytes_per_sample": 12, "set_affinity": True,
    "max_streams": 13, "default_cuda_stream_priority": -1, "enable_memory_stats": True, "exec_dynamic": False,
    "experimental_exec_dynamic": False, "stream_policy": jdali.StreamPolicy.SINGLE,
    "concurrency": jdali.OperatorConcurrency.FULL,
}  # fmt: skip
DERIVED = {"max_batch_size": 3, "cpu_queue_size": 4, "gpu_queue_size": 4, "exec_separated": False}
# Arguments that are no attributes, neither here nor in DALI.
ARGUMENTS_ONLY = {
    "checkpoint", "py_callback_pickler", "output_dtype", "output_ndim", "output_layout", "compilation_cache",
}  # fmt: skip


def random_numbers(seed=None, **options):
    pipe = jdali.Pipeline(batch_size=4, num_threads=1, seed=seed, **options)
    with pipe:
        pipe.set_outputs(fn.random.uniform(range=[0, 1]))
    return pipe


def test_each_argument_is_an_attribute_with_its_own_value():
    arguments = set(inspect.signature(jdali.Pipeline).parameters)
    assert arguments - ARGUMENTS_ONLY == set(VALUES)
    pipe = jdali.Pipeline(**VALUES)
    assert {name: getattr(pipe, name) for name in VALUES | DERIVED} == VALUES | DERIVED
    plain = jdali.Pipeline(batch_size=1)
    changed = {name for name in VALUES if getattr(plain, name) != VALUES[name]}
    assert changed == set(VALUES)  # else a value above would not tell two options apart from their defaults


@pytest.mark.parametrize("name", [*VALUES, *DERIVED])
def test_options_are_read_only_and_documented(name):
    pipe = jdali.Pipeline(batch_size=1)
    with pytest.raises(AttributeError, match="no setter"):
        setattr(pipe, name, 1)
    assert getattr(jdali.Pipeline, name).__doc__


@pytest.mark.oracle
def test_the_properties_of_dalis_pipeline_are_properties():
    theirs = {k for k, v in vars(oracle.dali().Pipeline).items() if isinstance(v, property) and k[0] != "_"}
    assert theirs
    ours = {name for name in theirs if isinstance(inspect.getattr_static(jdali.Pipeline, name), property)}
    assert ours == theirs


def test_a_config_is_checked_however_it_is_made():
    config = random_numbers().internals().config
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.batch_size = 2
    with pytest.raises(ValueError, match="on_error must be"):
        dataclasses.replace(config, on_error="ignore")
    assert {*_config.WITHOUT_EFFECT} < {field.name for field in dataclasses.fields(config)}


@pytest.mark.parametrize(
    ("wrong", "kind", "text"),
    [
        ({"max_compiles": -1}, ValueError, "max_compiles must not be negative, got -1"),
        ({"max_compiles": 1.5}, TypeError, "max_compiles must be an integer, not 1.5"),
        ({"max_idle_bytes": 1.5}, TypeError, "max_idle_bytes must be an integer, not 1.5"),
        ({"max_idle_bytes": None}, TypeError, "max_idle_bytes must be an integer, not None"),
        ({"max_prefetch_bytes": "9"}, TypeError, "max_prefetch_bytes must be an integer, not '9'"),
        ({"max_workers": "2"}, TypeError, "max_workers must be an integer, not '2'"),
        ({"exact_shapes": "no"}, TypeError, "exact_shapes must be True or False, not 'no'"),
        ({"scaled_decoding": 3}, TypeError, "scaled_decoding must be True or False, not 3"),
        ({"compilation_cache": None}, TypeError, "compilation_cache must be True or False, not None"),
    ],
)
def test_wrong_options(wrong, kind, text):
    with pytest.raises(kind, match=f"^Pipeline: {text}$"):
        random_numbers(**wrong)


def test_options_of_numpy():
    pipe = random_numbers(max_compiles=np.int64(1), exact_shapes=np.True_, max_idle_bytes=np.int32(0))
    assert pipe.run()[0].shape() == [()] * 4
    pipe.close()


def test_methods_are_functions_with_a_signature_of_their_own():
    methods = inspect.getmembers(jdali.Pipeline, inspect.isfunction)
    assert len(methods) > 40
    for name, method in methods:
        own = inspect.unwrap(method)  # below what folds tracebacks
        assert own.__module__.startswith("jdali._pipeline."), name
        assert "kwargs" not in own.__code__.co_varnames, name


def test_public_members_are_the_class_own():
    assert {name for name in dir(jdali.Pipeline) if name[0] != "_"} <= vars(jdali.Pipeline).keys()


@pytest.mark.parametrize("debug", [False, True])
def test_the_seed_of_a_state_becomes_the_pipelines(debug, tmp_path):
    for i in range(32):
        (tmp_path / f"{i}.bin").write_bytes(bytes([i]))

    @jdali.pipeline_def(batch_size=4, num_threads=1, debug=debug)
    def pipeline():
        names = [str(i) + ".bin" for i in range(32)]
        data, _ = fn.readers.file(file_root=str(tmp_path), files=names, random_shuffle=True)
        return data, fn.random.uniform(range=[0, 1])

    one, two = pipeline(), pipeline()
    two.set_state(one.get_state())  # in debug mode the readers are opened after this
    assert two.seed == one.seed
    assert two.internals().config.seed != one.seed
    for ours, theirs in zip(two.run(), one.run(), strict=True):
        np.testing.assert_array_equal(ours.as_array(), theirs.as_array())
    one.close()
    two.close()


def test_a_copy_has_the_seed_of_the_state_that_was_set():
    one, two = random_numbers(), random_numbers()
    two.set_state(one.get_state())
    copy = copied(two)
    assert copy.seed == one.seed
    np.testing.assert_array_equal(copy.run()[0].as_array(), one.run()[0].as_array())
    for pipe in (one, two, copy):
        pipe.close()
