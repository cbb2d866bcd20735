"""Executors of batches: threads of this process, and workers (processes, Ray actors), which may die.

* `threads`: the threads of a window.
* `elsewhere`: has workers run the first steps of batches; finds the sample that kills them.
* `scaling`: adds and removes workers by the waiting time of the loop.
"""
