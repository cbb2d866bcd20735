"""An operator that somebody else wrote: many encoded samples in, blocks on the accelerator out."""

import jax
import numpy as np
import pytest
from support.accelerator import nothing_comes_to_the_host
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn, types
from jdali._batches import BatchSpec, RowSlice, Store
from jdali._errors import SampleError
from jdali._operators.record import (
    REGISTRY,
    HostOutputs,
    PerSample,
    Probed,
    Static,
    Workers,
    host_batch_operator,
)
from jdali._system.devices import is_local
from jdali.graph import call_operator

BAD = 77
CALLS = []


def probe(encoded, *, channels):
    """A sample's first two bytes are its height and width."""
    sizes = np.array([[sample[0], sample[1], channels] for sample in encoded], np.int64)
    return Probed(sizes, np.dtype(np.uint8), sizes, {})


def setup(pictures: BatchSpec, *, channels: int) -> BatchSpec:
    return pictures.replace(layout="HWC")


def decode(
    encoded,
    /,
    *,
    channels: Static[int] = 3,
    value: PerSample[int] = 1,
    workers: Workers,
    headers: np.ndarray,
    device: jax.Device,
) -> HostOutputs:
    """Pictures of one value, rows of two arrays: those of even positions, and the others, on the device."""
    CALLS.append(len(encoded))
    values = np.broadcast_to(value, len(encoded))
    failures = {i: SampleError("a bad one") for i in np.flatnonzero(values == BAD).tolist()}
    parts = []
    for start in range(2):
        members = np.arange(start, len(encoded), 2)
        if len(members):
            rows = np.full((len(members), *headers[members].max(axis=0)), 255, np.uint8)
            for row, i in enumerate(members):
                rows[row, : headers[i, 0], : headers[i, 1]] = values[i]
            parts.append(RowSlice(jax.device_put(rows, device), np.arange(len(members)), members))
    return HostOutputs((Store.of_parts(parts, BatchSpec(headers, np.dtype(np.uint8), "HWC")),), failures)


@pytest.fixture
def decoder():
    CALLS.clear()
    yield host_batch_operator(name="test.decoder", setup=setup, probe=probe, devices=("mixed",))(decode)
    del REGISTRY["test.decoder"]


def encoded(sizes):
    return [np.array([h, w, 0], np.uint8) for h, w in sizes]


@pytest.mark.gpu
def test_blocks_on_a_device_go_on_from_there(accelerator, decoder):
    """They are gathered where they are: nothing is read by the host, and padding does not show."""
    sizes = [(4, 6), (9, 3), (5, 5), (2, 8), (7, 7)]
    values = [np.int32(10 * i) for i in range(5)]
    with jdali.Pipeline(batch_size=5, num_threads=2, device_id=0, exec_pipelined=False) as pipe:
        files = fn.external_source(lambda: encoded(sizes))
        value = fn.external_source(lambda: values)
        pictures = call_operator(decoder, (files,), {"value": value}, device="mixed")
        turned = fn.permute_batch(
            pictures, indices=fn.external_source(lambda: np.array([4, 3, 2, 1, 0], np.int32))
        )
        pipe.set_outputs(pictures, fn.crop_mirror_normalize(turned, dtype=types.FLOAT, shift=1.0))
    pipe.run()  # compiling may well bring constants to the host
    with nothing_comes_to_the_host():
        pictures, changed = pipe.run()
    assert pictures.layout() == "HWC"
    assert not any(is_local(block.array) for block in pictures.store.blocks)
    assert pictures.as_cpu().shape() == [(h, w, 3) for h, w in sizes]
    for i, (h, w) in enumerate(sizes):
        np.testing.assert_array_equal(pictures.as_cpu().at(i), np.full((h, w, 3), values[i], np.uint8))
        wanted = np.full((3, h, w), 10 * i + 1, np.float32)
        np.testing.assert_array_equal(changed.as_cpu().at(4 - i), wanted)
    assert CALLS == [5, 5]


@pytest.mark.gpu
@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_a_batch_with_a_stand_in_stays_on_the_device(accelerator, decoder, on_error):
    with jdali.Pipeline(
        batch_size=4, num_threads=2, device_id=0, on_error=on_error, exec_pipelined=False
    ) as pipe:
        number = numbers(NumberReader(8, bad=()))
        files = fn.cat(fn.cast(number, dtype=types.UINT8) + 2, fn.cast(number, dtype=types.UINT8) + 3, axis=0)
        value = fn.reshape(number, shape=[])
        value = value + (value == 2) * (BAD - 2)
        files, value = fn.cast(files, dtype=types.UINT8), fn.cast(value, dtype=types.INT32)
        pipe.set_outputs(call_operator(decoder, (files,), {"value": value}, device="mixed"))
    (pictures,) = pipe.run()
    assert CALLS == [4, 4]
    found = [int(np.asarray(pictures.as_cpu().at(i))[0, 0, 0]) for i in range(4)]
    assert not any(is_local(block.array) for block in pictures.store.blocks)
    assert found == [0, 1, 3, 3]
    assert pictures.as_cpu().shape() == [(number + 2, number + 3, 3) for number in found]


def test_what_is_not_made_is_an_error():
    def wrong(samples, /, *, as_list: Static[bool] = False):
        return [samples] if as_list else HostOutputs((), {})

    try:
        op = host_batch_operator(name="test.wrong")(wrong)
        for options, message in (
            ({}, r"test\.wrong: made 0 outputs, it has 1"),
            ({"as_list": True}, r"test\.wrong: gave list, not HostOutputs"),
        ):
            with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
                files = fn.external_source(lambda: encoded([(1, 1), (2, 2)]))
                pipe.set_outputs(call_operator(op, (files,), options, device="cpu"))
            with pytest.raises(jdali.OperatorError, match=message):
                pipe.run()
    finally:
        del REGISTRY["test.wrong"]
