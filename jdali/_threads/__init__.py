"""Runs tasks in threads, measures their time, and guards threads at the interpreter's exit.

```
 worker_threads     runs tasks of the oldest batch first
 timing             measures the time of each phase; JAX's profiler shows the phases under the same names
 native_calls       makes the interpreter's exit wait for threads in calls of XLA, and blocks the user's daemon threads
```
"""

from jdali._threads.native_calls import NATIVE as NATIVE
from jdali._threads.native_calls import begin_exit as begin_exit
from jdali._threads.native_calls import until_exit as until_exit
from jdali._threads.timing import PhaseTimer as PhaseTimer
from jdali._threads.timing import Spent as Spent
from jdali._threads.timing import Times as Times
from jdali._threads.timing import inner as inner
from jdali._threads.timing import timed as timed
from jdali._threads.worker_threads import WorkerThreads as WorkerThreads
