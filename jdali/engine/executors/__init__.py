"""Who makes batches: threads of this process, or workers, processes and Ray's, with their deaths and crashes.

* `threads`: the threads of a window.
* `elsewhere`: has workers make the first steps of batches, and deals with those that die.
* `scaling`: the number of workers that follows the waiting time.
* `crash`: finds the sample that ends the workers which work on it.
* `sent_result`: a result on its way from the worker that made it.
"""
