"""Several processes: each reads its shard and puts its rows into global arrays."""

import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = """
    import sys
    import jax, numpy as np
    sys.path.insert(0, {tests!r})
    process = int(sys.argv[1])
    jax.distributed.initialize("localhost:{port}", 2, process)
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    from support.numbers import NumberReader, numbers
    from jdali.iterator import LastBatchPolicy, data_iterator

    assert (jax.device_count(), jax.local_device_count()) == (4, 2)
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))

    @data_iterator(
        output_map=["x"], reader_name="Reader", sharding=sharding, last_batch_policy=LastBatchPolicy.PAD
    )
    def make(shard_id, num_shards):
        return numbers(NumberReader(17, shard_id=shard_id, num_shards=num_shards, pad=True))

    add = jax.jit(lambda x, mask: (x[:, 0] * mask).sum(), out_shardings=NamedSharding(sharding.mesh, P()))
    with make(batch_size=8, num_threads=1) as it:
        assert len(it) == 3 and it.batch_size == 2
        total = 0
        for batch in it:
            x = batch["x"]
            assert x.shape == (8, 1) and x.sharding.is_equivalent_to(sharding, 2)
            rows = {{s.index[0].start: np.asarray(s.data).ravel().tolist() for s in x.addressable_shards}}
            assert sorted(rows) == [4 * process, 4 * process + 2]
            total += int(add(x, batch["mask"]))
        assert total == sum(range(17)), total  # every number once

    # A function that knows no shards would read everything in every process.
    @data_iterator(output_map=["x"], sharding=sharding)
    def everything():
        return numbers(NumberReader(8))
    try:
        everything(batch_size=8)
    except TypeError as error:
        assert "must take shard_id and num_shards" in str(error)
    else:
        raise AssertionError
    print("fine", process)
"""


@pytest.mark.slow
def test_two_processes():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    script = textwrap.dedent(SCRIPT).format(tests=str(Path(__file__).resolve().parents[1]), port=port)
    environment = {
        "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
    }  # fmt: skip
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(i)], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for i in range(2)
    ]  # fmt: skip
    try:
        outputs = [process.communicate(timeout=120)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    for i, output in enumerate(outputs):
        assert f"fine {i}" in output, output
