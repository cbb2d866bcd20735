"""Writes model repositories for the Python backend of NVIDIA's Triton Inference Server; exports DALI's `autoserialize`.

```
 model_repository(folder or pipe, where) ──▶ where/preprocess/config.pbtxt      types and sizes, dynamic batching, instances
                                             where/preprocess/1/model.py        copy of model.py, runs in Triton's Python
                                             where/preprocess/1/exported/       output of Pipeline.export
                                             where/preprocess_MODEL/config.pbtxt    ensemble: bytes in, the model's answer out

 Triton ──▶ model.py, an instance ──requests─▶ worker.py: a process of jdali's Python
                                  ◀─answers──
```
"""

from typing import TYPE_CHECKING

from jdali._system.lazy import imported as _imported

if TYPE_CHECKING:
    from jdali.plugin.triton.marking import autoserialize as autoserialize
    from jdali.plugin.triton.marking import invoke_autoserialize as invoke_autoserialize
    from jdali.plugin.triton.repository import model_repository as model_repository

# Lazy imports: the worker process needs none of these.
_imported(
    __name__,
    {
        "autoserialize": "jdali.plugin.triton.marking",
        "invoke_autoserialize": "jdali.plugin.triton.marking",
        "model_repository": "jdali.plugin.triton.repository",
    },
)
