"""Processes that make tasks: started without the user's main module, replaced when they die.

```
 submit ──▶ pool.TaskPool: a thread ──socket──▶ serve: in each process ──▶ the user's maker
   ▲            │     ▲                              │
   └── Future ──┘     └── shared_slabs ◀── arrays ───┘     wire: how values and arrays travel
```

A process runs one task at a time and has the next one waiting, so a death is blamed on the task that ran. If the process
crashed, the future of the task raises `TaskKilledError`; if it was killed, which may have come from outside, the task is
submitted again, and the second death counts.
"""
