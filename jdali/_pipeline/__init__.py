"""The parts of `jdali.pipeline.Pipeline`.

`Pipeline` and `pipeline_def` are what users know from `jdali.pipeline`; `copied` and `outputs_of` make a pipeline anew from the
definition of another one, for plugins. Each file imports only those below it:

* `pipeline`: the public class, of `runs` (running it), `facts` (plan, times, graph), `checkpoint` (state), `functions`.
* `building`: from definition and options to what runs it, once. `run` takes its batches; `sent_pipeline` and `settling` are
  for workers.
* `definition`, `config`, `expected_outputs`: its graph, its options and the checks of its outputs.
"""

from jdali._pipeline.config import OperatorConcurrency as OperatorConcurrency
from jdali._pipeline.config import StreamPolicy as StreamPolicy
from jdali._pipeline.copying import copied as copied
from jdali._pipeline.copying import outputs_of as outputs_of
from jdali._pipeline.definition_decorator import pipeline_def as pipeline_def
from jdali._pipeline.pipeline import Pipeline as Pipeline
from jdali._pipeline.plan_picture import ValueSize as ValueSize
from jdali._pipeline.plan_picture import plan_svg as plan_svg
