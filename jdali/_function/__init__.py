"""A pipeline as a function: the compiled operators behind a start, and the part before them.

```
 sources ─▶ host.HostPart ─▶ start ─▶ part.Part ─▶ outputs
                                       │ planning: setup, on the host, in numbers ─▶ FunctionPlan
                                       └ running: the stage's program, in the user's programs too
```
"""

from jdali._function.function import Padded as Padded
from jdali._function.function import PipelineFunction as PipelineFunction
from jdali._function.making import make_function as make_function
from jdali._function.planning import FunctionPlan as FunctionPlan
