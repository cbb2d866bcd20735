"""Reads local and remote files.

* `files` opens single files; `regular_file` in `_system` refuses FIFOs and devices.
* `whole_files` reads many files into one array, `record_files` many pieces of files.
* For URLs, `remote` has retries and time limits, `blocks` fetches large blocks ahead, `scope` ends requests.
* `disk_cache` keeps parts of remote files on disk.
* `index_cache` keeps indexes that were built by scanning a file.
"""

from jdali._storage.blocks import SizedFile as SizedFile
from jdali._storage.files import is_url as is_url
from jdali._storage.files import version as version
from jdali._storage.index_cache import Arrays as Arrays
from jdali._storage.index_cache import always as always
from jdali._storage.index_cache import cached_index as cached_index
from jdali._storage.index_cache import never as never
from jdali._storage.index_cache import scan_bar as scan_bar
from jdali._storage.name_table import BadLine as BadLine
from jdali._storage.name_table import NameTable as NameTable
from jdali._storage.names import from_data as from_data
from jdali._storage.record_files import SLACK as SLACK
from jdali._storage.record_files import BadRecord as BadRecord
from jdali._storage.record_files import Misplaced as Misplaced
from jdali._storage.record_files import OpenFiles as OpenFiles
from jdali._storage.record_files import Pieces as Pieces
from jdali._storage.record_files import RecordFiles as RecordFiles
from jdali._storage.record_files import read_pieces as read_pieces
from jdali._storage.scope import Scope as Scope
from jdali._storage.whole_files import FileContents as FileContents
from jdali._storage.whole_files import read_file as read_file
from jdali._storage.whole_files import read_named as read_named
