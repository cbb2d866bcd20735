"""Bytes of files, local and remote.

* `files` opens all of them; `regular_file` of `_system` refuses what is no plain file.
* `whole_files`, `record_files` and `pieces` read many at once into one array.
* `remote`, `blocks` and `scope` are for URLs: retries and time limits, large blocks fetched ahead, requests that end.
* `index_cache` keeps what scanning a file found; `advice` tells the system what comes next.
"""
