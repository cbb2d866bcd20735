"""Defines `Pipeline`, and holds its parts.

Users import `Pipeline` and `pipeline_def` from `jdali.pipeline`; plugins copy a pipeline with `copied` and `outputs_of`. Each
module imports only modules below it:

* `pipeline`: the class. A pipeline has a definition and, once it is built, a window, which makes the batches.
* Parts of its methods, by topic: `building`, `checkpoint`, `epoch`, `feeding`, `serialize`, `plan_picture`.
* `sent_pipeline`: a pipeline for workers.
* `definition`, `config`, `expected_outputs`: the graph of a pipeline, its options, and the checks of its outputs.
"""

from jdali._pipeline.config import OperatorConcurrency as OperatorConcurrency
from jdali._pipeline.config import StreamPolicy as StreamPolicy
from jdali._pipeline.copying import copied as copied
from jdali._pipeline.copying import outputs_of as outputs_of
from jdali._pipeline.definition_decorator import pipeline_def as pipeline_def
from jdali._pipeline.pipeline import Pipeline as Pipeline
from jdali._pipeline.plan_picture import ValueSize as ValueSize
from jdali._pipeline.plan_picture import plan_svg as plan_svg
