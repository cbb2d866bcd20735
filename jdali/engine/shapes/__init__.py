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

The padded shape of a sample is a function of its own size and the level of the stage:

* `buckets` computes it. Level 0 is a fine grid, which follows from what padding costs (`cost`).
* `coarse` has the other levels. Each is a coarser grid with a floor, to which small sizes are raised.
* `stage_shapes` asks the operators of a stage which shapes follow from others. If its samples have more than
  `MOST_SHAPES` shapes, the whole stage rises to a coarser level: the fastest, by the cost model, with few enough shapes.

A level is local to a process. It decides which program runs, never which bits come out. So neither states nor
tasks hold it, and batches may be made in any order.
"""
