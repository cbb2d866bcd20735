"""Runs the steps of a plan: one runner for each kind of operator, chosen in `adapters`.

```
 reader_op ─▶ host_op, host_batch_op ─▶ stage ─▶ program
                                          │         ├── plan_cache: plans that later batches use again
                                          │         └── outline, program_table: programs that pipelines share
                                          └── sharded: one stage on several devices
```

`engine/make.py` loops over the steps: for each step, it selects the samples of the step's branch and calls the runner.
A runner reads its inputs from `values.Values`, the values of the batch that are computed so far, and adds its outputs.
"""
