"""Runs batches in threads of this process, and in workers (processes or Ray actors). Workers may die.

* `threads`: the threads of a window.
* `elsewhere`: runs the first steps of batches in workers, and finds samples that kill workers.
* `scaling`: adds and removes workers, depending on how long the user's loop waits for batches.
"""
