"""Converts data sets, for `python -m jdali convert`.

* `sources` finds the samples of a data set, and reads them by index.
* `pictures` checks, resizes and encodes pictures; `restart_markers` adds markers to JPEG files.
* `targets` writes a shard of WebDataset, ArrayRecord or Parquet, and reads it back.
* `converter` divides the data set into shards, converts them in threads, and continues an interrupted run.
"""

from jdali.cli.conversion.converter import Done as Done
from jdali.cli.conversion.converter import convert as convert
from jdali.cli.conversion.pictures import PictureChange as PictureChange
from jdali.cli.conversion.sources import KINDS as KINDS
from jdali.cli.conversion.sources import open_source as open_source
from jdali.cli.conversion.targets import TARGETS as TARGETS
