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

* `buckets` computes it. Level 0 uses one of several fine grids, depending on the cost of padding (`cost`).
* `coarse` has the other levels. Each has a grid, and a minimum size (floor) to which smaller samples are padded.
* `stage_shapes` asks each operator of a stage for the shapes of its outputs, given the shapes of its inputs. If the
  samples of a stage have more than `MOST_SHAPES` shapes, the whole stage rises to a coarser level: the fastest level,
  by the cost model, that has few enough shapes.

Each process has its own levels. A level decides which program runs, but never changes the bits of a result. So levels are
part of neither states nor tasks, and batches may be made in any order.
"""
