"""One of several processes that read a data set together; `test_processes.py` starts it.

Arguments: number of this process, of processes, port of the first one, name of the scenario.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.numbers import NumberReader, numbers

from jdali import Pipeline, fn
from jdali.iterator import DataIterator, LastBatchPolicy, data_iterator
from jdali.plugin.jax.fn import jax_function

PROCESS, PROCESSES = int(sys.argv[1]), int(sys.argv[2])
DEVICES = 2  # of each process


def data_mesh() -> Mesh:
    return Mesh(np.array(jax.devices()), ("data",))


def masked_numbers(x: jax.Array, mask: jax.Array) -> list[int]:
    """The numbers of all processes whose mask is set; a step of the training, in effect."""
    everywhere = NamedSharding(x.sharding.mesh, P())
    pick = jax.jit(lambda x, mask: np.int32(-1) + (x[:, 0] + 1) * mask, out_shardings=everywhere)
    return [n for n in np.asarray(pick(x, mask)).tolist() if n >= 0]


def padded_shards() -> None:
    """Uneven shards and a last batch that not all processes have: the same steps everywhere, none twice.

    11 numbers, a pipeline and a shard for each device: shards of 2 or 3 (1 or 2), batches of 2 of each.
    """
    sharding = NamedSharding(data_mesh(), P("data"))
    parts = PROCESSES * DEVICES

    @data_iterator(
        output_map=["x", "twice"], reader_name="Reader", sharding=sharding,
        last_batch_policy=LastBatchPolicy.PAD,
    )  # fmt: skip
    def make(shard_id: int, num_shards: int):
        x = numbers(NumberReader(11, shard_id=shard_id, num_shards=num_shards, pad=True))
        return x, x * 2

    with make(batch_size=2 * parts, num_threads=1) as it:
        assert it.batch_size == 2
        assert len(it) == -(-11 // (2 * parts))
        for _ in range(3):  # the shards move on to other processes
            seen = []
            steps = 0
            for batch in it:
                assert batch["x"].shape == (2 * parts, 1)
                assert batch["x"].sharding.is_equivalent_to(sharding, 2)
                twice = [np.asarray(s.data) for s in batch["twice"].addressable_shards]
                once = [np.asarray(s.data) for s in batch["x"].addressable_shards]
                np.testing.assert_array_equal(twice, 2 * np.array(once))
                seen += masked_numbers(batch["x"], batch["mask"])
                steps += 1
            assert steps == len(it)
            assert sorted(seen) == list(range(11)), seen
        assert all("on 1 devices, 1 parts of 2 samples" in pipe.plan() for pipe in it.pipelines)


def one_pipeline() -> None:
    """One pipeline for each process, spread over its devices; a filled last batch; mesh with a model axis."""
    mesh = Mesh(np.array(jax.devices()).reshape(PROCESSES, DEVICES), ("data", "model"))
    wanted = {"row": NamedSharding(mesh, P("data", "model")), "x": NamedSharding(mesh, P("data"))}
    pipe = Pipeline(batch_size=3, num_threads=1, seed=1)
    with pipe:
        x = numbers(NumberReader(10, shard_id=PROCESS, num_shards=PROCESSES, pad=True))
        pipe.set_outputs(x * np.arange(4, dtype=np.int32), x)
    with DataIterator(
        pipe, ["row", "x"], reader_name="Reader", sharding=wanted, last_batch_policy=LastBatchPolicy.PAD
    ) as it:
        seen = []
        for batch in it:
            row, x = batch["row"], batch["x"]
            assert row.shape == (3 * PROCESSES, 4)
            assert all(batch[name].sharding.is_equivalent_to(wanted[name], 2) for name in wanted)
            (mine,) = {tuple(np.asarray(s.data)[:, 0].tolist()) for s in x.addressable_shards}
            for s in row.addressable_shards:
                np.testing.assert_array_equal(np.asarray(s.data), np.outer(mine, np.arange(4)[s.index[1]]))
            seen += masked_numbers(x, batch["mask"])
        assert sorted(seen) == list(range(10)), seen
        assert "on 2 devices, 1 parts of 3 samples, each computed on 2 devices" in pipe.plan()


def a_model_axis_over_processes() -> None:
    """All processes hold the same part of the batch, so all make it, and each keeps its columns."""
    mesh = Mesh(np.array(jax.devices()).reshape(DEVICES, PROCESSES, order="F"), ("data", "model"))
    sharding = NamedSharding(mesh, P("data", "model"))
    pipe = Pipeline(batch_size=4, num_threads=1, seed=1)
    with pipe:
        x = fn.external_source([np.arange(4, dtype=np.int32)[:, None]], cycle=True)
        pipe.set_outputs(x + np.arange(8, dtype=np.int32))
    with DataIterator(pipe, ["x"], size=4, sharding=sharding) as it:
        x = next(it)["x"]
    assert x.shape == (4, 8)
    assert x.sharding.is_equivalent_to(sharding, 2)
    whole = np.add.outer(np.arange(4), np.arange(8))
    for s in x.addressable_shards:
        np.testing.assert_array_equal(np.asarray(s.data), whole[s.index])


def failures() -> None:
    """What would read everything in every process, or hang."""
    sharding = NamedSharding(data_mesh(), P("data"))

    @data_iterator(output_map=["x"], sharding=sharding)
    def everything():
        return numbers(NumberReader(8))

    message = ""
    try:
        everything(batch_size=4 * PROCESSES)
    except TypeError as error:
        message = str(error)
    assert "must take shard_id and num_shards" in message, message

    shapes_differ: dict[str, dict[str, Any]] = {
        "use PAD, FILL or DROP": {"last_batch_policy": LastBatchPolicy.PARTIAL},
        "output 'x' is ragged, and processes would pad it to different shapes": {"ragged": "pad"},
    }
    for words, options in shapes_differ.items():
        message = ""
        pipe = Pipeline(batch_size=2, num_threads=1)
        try:
            DataIterator(pipe, ["x"], sharding=sharding, **options)
        except ValueError as error:
            message = str(error)
        assert words in message, message


def a_function_of_columns() -> None:
    """What `jax_function` returns split along rows and columns: each process gets its rows, whole."""
    mesh = Mesh(np.array(jax.devices()).reshape(PROCESSES, DEVICES), ("data", "model"))
    pipe = Pipeline(batch_size=4, num_threads=1)
    with pipe:
        x = numbers(NumberReader(4 * PROCESSES, shard_id=PROCESS, num_shards=PROCESSES))
        function = jax_function(lambda x: 2 * x, sharding=NamedSharding(mesh, P("data", "model")))
        pipe.set_outputs(function(x * np.arange(4, dtype=np.int32)))
    mine = np.arange(4 * PROCESS, 4 * PROCESS + 4)
    np.testing.assert_array_equal(pipe.run()[0].as_array(), np.outer(2 * mine, np.arange(4)))
    pipe.close()


def bad_samples() -> None:
    """Some samples of some processes cannot be read: still the same steps everywhere."""
    bad = (0, 1, 8)
    pipe = Pipeline(batch_size=2 * DEVICES, num_threads=1, seed=1, on_error="skip")
    with pipe:
        reader = NumberReader(5 * PROCESSES, shard_id=PROCESS, num_shards=PROCESSES, pad=True, bad=bad)
        pipe.set_outputs(numbers(reader))
    with DataIterator(
        pipe, ["x"], reader_name="Reader", sharding=NamedSharding(data_mesh(), P("data")),
        last_batch_policy=LastBatchPolicy.PAD,
    ) as it:  # fmt: skip
        for _ in range(2):
            seen = [masked_numbers(batch["x"], batch["mask"]) for batch in it]
            assert len(seen) == len(it) == 2
            everything = sorted(n for step in seen for n in step)
            assert everything == sorted(set(range(5 * PROCESSES)) - set(bad)), seen


if __name__ == "__main__":
    jax.distributed.initialize(f"localhost:{sys.argv[3]}", PROCESSES, PROCESS)
    assert (jax.device_count(), jax.local_device_count()) == (DEVICES * PROCESSES, DEVICES)
    for scenario in (
        padded_shards, one_pipeline, a_model_axis_over_processes, bad_samples, a_function_of_columns, failures
    ):  # fmt: skip
        scenario()
    print("fine", PROCESS)
