"""Readers: a module for each format, which also defines the operator.

* `base`: arguments of all readers, and the class that owns their order.
* `order`: epochs, shards and shuffling as functions of a position.
* `formats`: what files of records, archives and annotations hold, and where.
* `ahead`: samples of remote data sets, loaded before they are asked for.
"""
