"""Serves an exported pipeline over HTTP with the open inference protocol (KServe V2) and dynamic batching.

```
 HTTP ─▶ app ─▶ protocol: tensors ─▶ batcher: one batch of several requests ─▶ model: pipeline, user's model
          │                                                                     │
          └─▶ /metrics              an answer or an error for each request ◀────┘
```

`python -m jdali serve FOLDER` starts a server; `application` builds an ASGI application that you can run in your own server.
"""

from typing import TYPE_CHECKING

from jdali._system.lazy import imported as _imported
from jdali.serving.model import ServedModel as ServedModel
from jdali.serving.protocol import ModelInput as ModelInput
from jdali.serving.protocol import OutputError as OutputError
from jdali.serving.protocol import RequestError as RequestError
from jdali.serving.protocol import datatype as datatype
from jdali.serving.protocol import parse as parse

if TYPE_CHECKING:
    from jdali.serving.app import ServerLimits as ServerLimits
    from jdali.serving.app import application as application
    from jdali.serving.app import bind as bind
    from jdali.serving.app import serve as serve

# Imported on first use, because they need Starlette. `ServedModel` works without it, for instance in another server.
_imported(__name__, dict.fromkeys(("ServerLimits", "application", "bind", "serve"), "jdali.serving.app"))
