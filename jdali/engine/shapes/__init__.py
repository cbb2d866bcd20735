"""Padded shapes: the only room that decides which sizes share a compiled program.

```
 sizes of the samples ─┐
 stage: operators,     ├─▶ stage_shapes ─▶ groups of samples, a padded shape each ─▶ steps: programs
   layouts, costs ─────┤     │      ▲  │
 level before a batch ─┘     ▼      │  └─▶ level after the batch ─▶ levels ─▶ state, next batch
                          buckets   │
                    level 0 │ │ 1.. │
                     grid ◀─┘ └─▶ coarse        cost: what padding takes
```

The padded shape of a sample is a function of its own size and the level of the stage. Nothing else is remembered:

* `buckets` decides. At level 0 sizes are on a fine grid, by what padding costs (`cost`).
* `coarse` has the other levels. Each is a coarser grid with a floor, below which small sizes become one.
* `stage_shapes` asks the operators of a stage which shapes follow from others. Where its samples have more than
  `MOST_SHAPES` shapes, the whole stage rises to the level with that few which takes the least time by the cost model.
* `levels` holds the level of each stage and the count of its shapes. They belong to a stream of batches, not to the
  stage: they come with the task of a batch, and are part of the pipeline's state.
"""
