"""Gets data from the user, by external sources in this process or in workers, or by `feed_input`.

```
 a callback, an iterable ──▶ items ──┐
 Pipeline.feed_input ────────────────┼──▶ external_source.SourceFeed ──▶ batches, converted by `user_batches`
 processes ◀── parallel_source ──────┤
 video_input: a video, as frames ────┘
```

`items` checks the arguments of `external_source`; `parallel_source` also starts the processes.
"""

from typing import TYPE_CHECKING

from jdali._sources.external_source import SourceFeed as SourceFeed
from jdali._sources.items import SourceItems as SourceItems
from jdali._sources.items import check_source as check_source
from jdali._sources.items import cycle_mode as cycle_mode
from jdali._sources.items import is_callback as is_callback
from jdali._sources.items import is_random_access as is_random_access
from jdali._sources.items import takes_argument as takes_argument
from jdali._sources.parallel_source import InWorkers as InWorkers
from jdali._sources.parallel_source import ParallelSource as ParallelSource
from jdali._sources.parallel_source import start_workers as start_workers
from jdali._sources.user_batches import Samples as Samples
from jdali._sources.user_batches import as_samples as as_samples
from jdali._sources.user_batches import batch_of as batch_of
from jdali._sources.user_batches import chosen as chosen
from jdali._sources.user_batches import in_host_memory as in_host_memory
from jdali._sources.user_batches import layout_of as layout_of
from jdali._system.lazy import imported as _imported

if TYPE_CHECKING:
    from jdali._sources.video_input import VideoInput as VideoInput

# Lazy, because `video_input` imports the video decoder.
_imported(__name__, {"VideoInput": "jdali._sources.video_input"})
