"""Samples that fail: which ones, and what stands in for them.

```
 a step fails ──▶ blame ──────────▶ stand_ins ──▶ another task, the next attempt at the batch
     ▲             the samples that made it fail, by their provenance
     └── crash     the sample that ended a worker
```

A stand-in follows from the epoch and index of the sample that fails and the number of the attempt, so no batch depends on
another. `sent_result` brings results from workers.
"""
