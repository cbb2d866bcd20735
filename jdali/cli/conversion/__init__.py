"""Converts data sets, for `python -m jdali convert`.

* `sources` finds the samples of a set, and reads them by index.
* `pictures` checks, resizes and encodes pictures; `restart_markers` puts markers into JPEG files.
* `targets` writes a shard of WebDataset, ArrayRecord or Parquet, and reads it back.
* `converter` divides the set into shards, works in threads, and goes on where an earlier run ended.
"""

from jdali.cli.conversion.converter import Done as Done
from jdali.cli.conversion.converter import convert as convert
from jdali.cli.conversion.pictures import PictureChange as PictureChange
from jdali.cli.conversion.sources import KINDS as KINDS
from jdali.cli.conversion.sources import open_source as open_source
from jdali.cli.conversion.targets import TARGETS as TARGETS
