"""Who makes batches: threads of this process, or workers, processes and Ray's, with their deaths and crashes.

* `threads`: the threads of a window.
* `elsewhere`: has workers make the first steps of batches; finds the sample that ends those which work on it.
* `scaling`: the number of workers that follows the waiting time.
"""
