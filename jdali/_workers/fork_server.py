"""Python's fork server imports this module if `CallbackWorkers` starts the server.

The server has SIGINT blocked, and so has each process that it forks. Here processes of the user unblock the signal; jdali's
workers do so when they ignore it.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import signal

from jdali._workers.callbacks import PROCESS_NAME


def _unblock(_: object) -> None:
    if multiprocessing.current_process().name != PROCESS_NAME:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


multiprocessing.util.register_after_fork(_unblock, _unblock)
