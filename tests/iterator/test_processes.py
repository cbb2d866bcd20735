"""Several processes: each reads its shard and puts its rows into global arrays."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def run_processes(script, count, *arguments, devices=2, seconds=240):
    """The outputs of `count` processes that run a script at once; each gets its number first."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ, "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
    }  # fmt: skip
    running = [
        subprocess.Popen(
            [sys.executable, str(script), str(i), str(count), str(port), *arguments], env=environment,
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for i in range(count)
    ]  # fmt: skip
    try:
        return [process.communicate(timeout=seconds)[0] for process in running]
    finally:
        for process in running:
            process.kill()


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.exhaustive)])  # four start slowly
def test_processes(count):
    for i, output in enumerate(run_processes(HERE / "_process.py", count)):
        assert f"fine {i}" in output, output
