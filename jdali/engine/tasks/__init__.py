"""Batches to be made: readers and external sources as one stream, with a position that can be saved.

```
 readers ─────────────┐
 external_source ─────┼──▶ feed.Feed ──▶ DrawnBatch    indices of readers, data of sources, identities
 video_input ─────────┘       │
                              └── refill    samples that take the positions of bad ones
```

`source_items` goes through what a user gave as a source; `parallel_source` asks for it in worker processes.
"""
