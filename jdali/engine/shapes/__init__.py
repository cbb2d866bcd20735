"""Padded shapes: the only room that decides which sizes share a compiled program.

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

* `buckets` decides. At level 0 sizes are on a fine grid, by what padding costs (`cost`).
* `coarse` has the other levels. Each is a coarser grid with a floor, below which small sizes become one.
* `stage_shapes` asks the operators of a stage which shapes follow from others. Where its samples have more than
  `MOST_SHAPES` shapes, the whole stage rises to the level with that few which takes the least time by the cost model.
A level is local to a process: it decides which program runs, never which bits come out. So no state and no task holds it,
and the order in which batches are made may be any.
"""
