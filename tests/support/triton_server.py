"""NVIDIA's Triton Inference Server, from the environment that `make triton` makes."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ENVIRONMENT = Path(__file__).parents[2] / ".venv-triton"
_START_SECONDS = 600  # programs compile before it is ready
_END_SECONDS = 60


def distribution() -> Path | None:
    """The folder of the server in the wheel nvidia-pytriton; None: it is not installed."""
    return next(ENVIRONMENT.glob("lib/python3.*/site-packages/pytriton/tritonserver"), None)


@contextlib.contextmanager
def triton_server(repository: Path) -> Iterator[tuple[str, int]]:
    """The address and the process of a server with all models of a repository.

    Args:
        repository: with models.

    Raises:
        RuntimeError: it did not start; the error has what it wrote.
    """
    server = distribution()
    assert server is not None, "make triton installs it"
    version = server.parents[2].name.removeprefix("python")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        backend = Path(folder, "backends", "python")
        backend.mkdir(parents=True)
        for part in (server / "backends" / "python", server / "python_backend_stubs" / version):
            for path in part.iterdir():
                (backend / path.name).symlink_to(path)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        log = stack.enter_context(open(Path(folder, "log"), "w+"))
        process = subprocess.Popen(
            [
                server / "bin" / "tritonserver", f"--model-repository={repository}", "--disable-auto-complete-config",
                f"--backend-directory={backend.parent}", f"--backend-config=python,stub-timeout-seconds={_START_SECONDS}",
                "--http-address=127.0.0.1", f"--http-port={port}", "--allow-grpc=false", "--allow-metrics=false",
            ],
            env=os.environ
            | {
                # The Python of the backend finds its environment by the first `python3`.
                "PATH": os.pathsep.join([str(ENVIRONMENT / "bin"), os.environ["PATH"]]),
                "LD_LIBRARY_PATH": str(server / "external_libs"),
            },
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _wait(process, port, Path(log.name))
            yield f"127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Waits until all models are ready."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready").close()
            return
        time.sleep(0.05)
    raise RuntimeError(f"tritonserver is not ready, status {process.poll()}: {log.read_text()[-5000:]}")
