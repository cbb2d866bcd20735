"""Processes that make tasks: started without the user's main module, replaced when they die.

```
 submit ──▶ pool.TaskPool: a thread ──socket──▶ serve: in each process ──▶ the user's maker
   ▲            │     ▲                              │
   └── Future ──┘     └── shared_slabs ◀── arrays ───┘     wire: how values and arrays travel
```

A process runs one task at a time and has the next one waiting, so a death is blamed on the task that ran. That task is
submitted again; if it kills a second process, its future raises `TaskKilledError`.
"""
