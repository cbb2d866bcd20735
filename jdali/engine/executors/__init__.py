"""Executors of batches: threads of this process, and workers (processes, Ray actors), which may die.

* `threads`: the threads of a window.
* `elsewhere`: has workers run the first steps of batches, and finds samples that kill workers.
* `scaling`: adds and removes workers, depending on how long the loop waits for batches.
"""
