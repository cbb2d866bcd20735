"""Describes the machine: processors, memory, files, devices and optional packages.

* `devices` finds JAX's devices for host memory and for the accelerator, and has the only function that copies arrays
  from a device to NumPy.
* `limits` has the limits on the sizes of data; `regular_file` and `open_files` open files within them.
* `lazy` loads attributes of modules on first use.
* `jax_modes` resets JAX's strict modes; `jax_internals` is the only module that uses private names of JAX.
* `cpus`, `cache_folder`, `extras`, `progress`, `tracebacks` and `words` are small helpers.
"""
