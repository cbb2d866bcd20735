"""Tasks of batches: readers and external sources as one stream, with a position that can be saved.

```
 readers ─────────────┐
 external_source ─────┼──▶ feed.Feed ──▶ batch_task.BatchTask    indices of readers, data of sources, identities
 video_input ─────────┘
```

`opening` opens readers. Sources of the user's are in `_sources`.
"""
