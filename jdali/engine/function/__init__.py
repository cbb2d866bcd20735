"""Turns the compiled operators of a pipeline into a pure function. Host operators make its inputs, called the start.

```
 sources ─▶ host.HostPart ─▶ start ─▶ part.Part ─▶ outputs
                                       │ planning: setup, on the host ─▶ FunctionPlan
                                       └ running: the stage's program, alone or in a user's program
```
"""

from typing import TYPE_CHECKING

from jdali._system.lazy import imported as _imported
from jdali.engine.function.function import Padded as Padded
from jdali.engine.function.function import PipelineFunction as PipelineFunction
from jdali.engine.function.graph_json import read_graph as read_graph
from jdali.engine.function.graph_json import record_to_write as record_to_write
from jdali.engine.function.graph_json import written_graph as written_graph
from jdali.engine.function.making import Start as Start
from jdali.engine.function.making import make_function as make_function
from jdali.engine.function.one_sample import call_on_sample as call_on_sample

if TYPE_CHECKING:
    from jdali.engine.function.export import export_function as export_function
    from jdali.engine.function.preprocess import Preprocess as Preprocess

# Lazy: these import JAX's exporter and msgspec.
_imported(
    __name__,
    {"Preprocess": "jdali.engine.function.preprocess", "export_function": "jdali.engine.function.export"},
)
