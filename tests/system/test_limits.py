"""The table of limits: its defaults, setting them, their errors and their older names."""

import dataclasses

import numpy as np
import pytest
from support.pictures import noise, pillow, png

import jdali
from jdali import SampleError, fn, storage
from jdali._system import limits
from jdali.codecs import audio, image, video


@pytest.fixture(autouse=True)
def _as_before():
    before = limits.current()
    yield
    limits.use(before)


def test_each_limit_has_a_unit_and_a_default():
    names = [field.name for field in dataclasses.fields(limits.Limits)]
    assert set(names) == set(limits._UNITS)
    assert {n for n in names if getattr(limits.Limits(), n) is None} == set(limits._SHARES)
    assert limits.most("max_sample_bytes") == limits.memory_limit() // 2
    assert all(limits.most(name) > 0 for name in names)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(limits.Limits)])
def test_configure_sets_each(name):
    before = storage.configure(**{name: 1000})
    assert limits.most(name) == getattr(storage.options(), name) == 1000
    assert getattr(before, name) != 1000
    limits.check(name, 1000, "a thing of 1000")
    with pytest.raises(
        SampleError, match=rf"a thing of 1001 is larger than the limit of 1000 .*\({name} of jdali.storage"
    ):
        limits.check(name, 1001, "a thing of 1001")
    with pytest.raises(ValueError, match=f"storage: {name} is 0, it must be at least 1"):
        storage.configure(**{name: 0})
    with pytest.raises(ValueError, match=f"storage: {name} is '5', it must be at least 1"):
        storage.configure(**{name: "5"})
    assert limits.most(name) == 1000


@pytest.mark.parametrize("name", ["retries", "samples_ahead", "cache_bytes", "time_limit"])
def test_other_options_are_named_too(name):
    with pytest.raises(ValueError, match=f"storage: {name} is '5', it must be at least"):
        storage.configure(**{name: "5"})


def test_older_names_are_the_same_limits(monkeypatch):
    names = {(image, "MAX_PIXELS"): "max_pixels", (audio, "MAX_VALUES"): "max_sound_values",
             (audio, "MAX_VALUES_PER_BYTE"): "max_values_per_byte", (video, "MAX_BYTES"): "max_sample_bytes"}  # fmt: skip
    for (module, attribute), name in names.items():
        assert getattr(module, attribute) == limits.most(name)
        setattr(module, attribute, 77)
        assert storage.options() == dataclasses.replace(storage.options(), **{name: 77})
        storage.configure(**{name: 78})
        assert getattr(module, attribute) == 78
    assert image.__class__.__name__ == "module"
    assert storage.options().retries == storage.Options().retries


def test_a_pipeline_obeys_them():
    """One sample of a batch is too large: its error says what it asks for, the limit, and how to raise it."""
    small, large = png(noise(10, 10, 3)), pillow(noise(10, 11, 3), "jpeg")
    storage.configure(max_pixels=100)
    pipe = jdali.Pipeline(
        batch_size=2, num_threads=1, device_id=None, on_error="skip", prefetch_queue_depth=1
    )
    batches = iter(
        [[np.frombuffer(b, np.uint8) for b in (small, large)], [np.frombuffer(small, np.uint8)] * 2]
    )
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source(source=lambda: next(batches))))
    pipe.run()
    (skipped,) = pipe.errors
    assert (
        "JPEG image of 10x11x3 is larger than the limit of 100 pixels (max_pixels of jdali.storage."
        in skipped.reason
    )


def test_what_is_asked_for_counts_too():
    data = png(noise(10, 10, 3))
    storage.configure(max_sample_bytes=300)
    assert image.decode(data).nbytes == 300
    with pytest.raises(
        SampleError, match="PNG image of 10x10x3 as float32 is larger than the limit of 300 bytes"
    ):
        image.decode(data, dtype=np.float32)
