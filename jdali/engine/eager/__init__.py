"""Runs steps immediately, for operators and traced functions of dynamic mode, for debug mode, and for the viewer.

```
 call.run_operator, call.EagerReader      an operator, a reader
 call.graph_of                            a function on nodes, see `traced`
 debug.DebugEngine                        a pipeline, operator by operator
 inspector.PipelineInspector              any batch of a pipeline, a sample after each operator
```
"""

from typing import TYPE_CHECKING

from jdali._system.lazy import imported as _imported
from jdali.engine.eager.call import EagerReader as EagerReader
from jdali.engine.eager.call import GraphKey as GraphKey
from jdali.engine.eager.call import InputKind as InputKind
from jdali.engine.eager.call import Placement as Placement
from jdali.engine.eager.call import RandomDraw as RandomDraw
from jdali.engine.eager.call import compiled_programs as compiled_programs
from jdali.engine.eager.call import graph_of as graph_of
from jdali.engine.eager.call import move as move
from jdali.engine.eager.call import room_for as room_for
from jdali.engine.eager.call import run_operator as run_operator
from jdali.engine.eager.call import wait as wait
from jdali.engine.eager.traced import CallKey as CallKey
from jdali.engine.workers import Pool as Pool

if TYPE_CHECKING:
    from jdali.engine.eager.debug import DebugEngine as DebugEngine
    from jdali.engine.eager.inspector import MOST_EPOCHS as MOST_EPOCHS
    from jdali.engine.eager.inspector import PipelineInspector as PipelineInspector
    from jdali.engine.eager.inspector import SeenBatch as SeenBatch
    from jdali.engine.eager.inspector import Trace as Trace

# Lazy: neither eager calls nor loaded pipelines need these, and both should start fast.
_imported(
    __name__,
    {"DebugEngine": "jdali.engine.eager.debug"}
    | dict.fromkeys(
        ("MOST_EPOCHS", "PipelineInspector", "SeenBatch", "Trace"), "jdali.engine.eager.inspector"
    ),
)
