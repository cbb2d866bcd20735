"""Chooses padded shapes: only this package decides which sizes share a compiled program.

```
 sizes of the samples ─┐
 stage: operators,     ├─▶ stage_shapes ─▶ groups of samples, a padded shape each ─▶ steps: programs
   layouts, costs ─────┘     │      ▲
                             ▼      │
                          buckets   │
                    level 0 │ │ 1.. │
                     grid ◀─┘ └─▶ coarse        cost: what padding takes
```

The padded shape of a sample is a function of its own size and the level of the stage (`buckets`, `coarse`); small samples of
a batch share one. If the samples of a stage have more than `MOST_SHAPES` shapes, the whole stage rises to the level that is the
fastest, by the cost model, of those with few enough shapes (`stage_shapes`).

Each process has its own levels. A level decides which program runs, but never changes the bits of a result. So levels are
part of neither states nor tasks, and batches may be made in any order.
"""
