"""Threads that work on tasks, the time that they take, and the end of the interpreter.

```
 worker_threads     tasks of the oldest batch first
 timing             the time of each phase, by lap; under the same names in JAX's profiler
 native_calls       the interpreter's exit: threads in a call of XLA, which it waits for, and those of the user
```
"""

from jdali._threads.native_calls import NATIVE as NATIVE
from jdali._threads.native_calls import begin_exit as begin_exit
from jdali._threads.native_calls import until_exit as until_exit
from jdali._threads.timing import PhaseTimer as PhaseTimer
from jdali._threads.timing import Spent as Spent
from jdali._threads.timing import TimedPool as TimedPool
from jdali._threads.timing import Times as Times
from jdali._threads.timing import inner as inner
from jdali._threads.worker_threads import Here as Here
from jdali._threads.worker_threads import TaskExecutor as TaskExecutor
from jdali._threads.worker_threads import Turn as Turn
from jdali._threads.worker_threads import WorkerThreads as WorkerThreads
