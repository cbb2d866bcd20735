"""Samples that fail: `blame` finds them in what was drawn, `memo` keeps what need not be made again.

```
 step fails ──▶ blame: positions of the batch ──▶ replace: other samples there ──▶ made again, with the memo
                                                          │
                                                          └── nothing to replace them: the batch has no samples
```
"""
