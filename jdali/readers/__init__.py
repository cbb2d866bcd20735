"""Implements the readers. Each module has the reader of one format, and its operator.

* `base`: the arguments of all readers, and their base class, which owns the order.
* `order`: epochs, shards and shuffling as functions of a position.
* `formats`: parsers and indexes of record files, archives and annotations.
* `ahead`: prefetches samples of remote data sets.
"""
