"""Samples that fail: which ones, and what comes instead. `recovery` draws the states of a batch.

```
 batch_result ──▶ recovery ──▶ another task, made with the memo of the last attempt
                     │
                     ├── blame           the samples that made a step fail, by their provenance
                     └── replacements    what was put in their positions, and what is next
                            └── refill       the samples that come next, by the leads of `tasks`
```
"""
