"""The machine: processors, memory, files, devices, optional packages.

* `devices`: host memory, the accelerator, and the one function that reads a device's array into NumPy.
* `limits`: the one table of what data may ask for; `regular_file` and `open_files` open files within it.
* `lazy`: attributes that modules load on first use. `jax_modes`, `jax_internals`: JAX's strict modes and private names.
* `cpus`, `cache_folder`, `extras`, `progress`, `tracebacks`, `words`.
"""
