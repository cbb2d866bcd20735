"""Serving an exported pipeline over HTTP, by the open inference protocol (KServe's V2), with dynamic batching.

```
 HTTP ─▶ app ─▶ protocol: tensors ─▶ batcher: requests of some milliseconds together ─▶ model: decode, run, model
                                                                                         │ each request its answer
 /metrics ◀─┘                                                                            ▼ or its own error
```

`python -m jdali serve FOLDER` runs it; `application` is it as an ASGI application for a server of your own.
"""

from typing import TYPE_CHECKING

from jdali._system.lazy import imported as _imported
from jdali.serving.model import ServedModel as ServedModel
from jdali.serving.protocol import ModelInput as ModelInput
from jdali.serving.protocol import RequestError as RequestError
from jdali.serving.protocol import datatype as datatype
from jdali.serving.protocol import parse as parse

if TYPE_CHECKING:
    from jdali.serving.app import ServerLimits as ServerLimits
    from jdali.serving.app import application as application
    from jdali.serving.app import serve as serve

# They need Starlette, which a model of another server does not.
_imported(__name__, dict.fromkeys(("ServerLimits", "application", "serve"), "jdali.serving.app"))
