"""Implements the readers. Each module has the reader of one format, and its operator.

* `base`: the arguments of all readers, and their base class, which determines the order of samples.
* `order`: epochs, shards and shuffling as functions of a position.
* `formats`: parsers and indexes of record files, archives and annotations.
* `ahead`: prefetches samples of remote data sets.
"""
