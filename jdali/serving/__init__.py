"""Serving an exported pipeline over HTTP, by the open inference protocol (KServe's V2), with dynamic batching.

```
 HTTP ─▶ app ─▶ protocol: tensors ─▶ batcher: requests of some milliseconds together ─▶ model: decode, run, model
                                                                                         │ each request its answer
 /metrics ◀─ metrics                                                                     ▼ or its own error
```

`python -m jdali serve FOLDER` runs it; `application` is it as an ASGI application for a server of your own.
"""

from jdali.serving.app import ServerLimits as ServerLimits
from jdali.serving.app import application as application
from jdali.serving.app import serve as serve
from jdali.serving.model import ServedModel as ServedModel
