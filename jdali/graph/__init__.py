"""Represents pipelines as graphs: nodes, conditionals, and the plan of their execution.

```
 a call of `fn` ──▶ Node in a Graph ──▶ make_plan ──▶ ExecutionPlan of HostSteps and Stages ──▶ the engine
   call_operator     DataNode: one output              cut: a Border; workers run the steps before it
```

* `conditional`: `if` on data nodes, and `choose`. `autograph` finds and rewrites the functions that use them.
* `fingerprints`: describes a graph as a short text. States contain it, so that other pipelines refuse them.
* `records`: graphs as plain data, for copies, workers, serialized pipelines and exported folders.
"""

from jdali.graph.arithmetic import add_operators as add_operators
from jdali.graph.arithmetic import constant_node as constant_node
from jdali.graph.arithmetic import expression as expression
from jdali.graph.autograph import do_not_convert as do_not_convert
from jdali.graph.autograph import is_autograph_artifact as is_autograph_artifact
from jdali.graph.autograph import is_not_converted as is_not_converted
from jdali.graph.border import Border as Border
from jdali.graph.border import cut as cut
from jdali.graph.border import steps_before_programs as steps_before_programs
from jdali.graph.border import with_late_steps as with_late_steps
from jdali.graph.call import call_operator as call_operator
from jdali.graph.conditional import choose as choose
from jdali.graph.conditional import current_branches as current_branches
from jdali.graph.conditional import trace as trace
from jdali.graph.expression_types import Expression as Expression
from jdali.graph.fingerprints import Entry as Entry
from jdali.graph.fingerprints import describe as describe
from jdali.graph.fingerprints import difference as difference
from jdali.graph.fingerprints import fingerprint as fingerprint
from jdali.graph.node import WHOLE_BATCH as WHOLE_BATCH
from jdali.graph.node import DataNode as DataNode
from jdali.graph.node import Domain as Domain
from jdali.graph.node import Graph as Graph
from jdali.graph.node import Node as Node
from jdali.graph.node import building as building
from jdali.graph.node import current_graph as current_graph
from jdali.graph.plan import ExecutionPlan as ExecutionPlan
from jdali.graph.plan import HostStep as HostStep
from jdali.graph.plan import Stage as Stage
from jdali.graph.plan import compiled as compiled
from jdali.graph.plan import dependencies as dependencies
from jdali.graph.plan import is_compiled as is_compiled
from jdali.graph.plan import last_uses as last_uses
from jdali.graph.plan import make_plan as make_plan
from jdali.graph.plan import scaled_consumers as scaled_consumers
from jdali.graph.plan import step_of as step_of
from jdali.graph.plan import upstream as upstream
from jdali.graph.records import DomainRecord as DomainRecord
from jdali.graph.records import GraphRecord as GraphRecord
from jdali.graph.records import NodeRecord as NodeRecord
from jdali.graph.records import ValueNumber as ValueNumber
from jdali.graph.records import copy_graph as copy_graph
from jdali.graph.records import record_graph as record_graph
from jdali.graph.records import reduced_operator as reduced_operator
from jdali.graph.request import request_of as request_of
from jdali.graph.rewriting import HOST_OPERATORS as HOST_OPERATORS
from jdali.graph.rewriting import ConditionalPart as ConditionalPart
from jdali.graph.rewriting import Rewriting as Rewriting
from jdali.graph.rewriting import conditional_part as conditional_part
from jdali.graph.rewriting import fits_in_function as fits_in_function
from jdali.graph.rewriting import is_choice as is_choice
from jdali.graph.rewriting import may_be_exported as may_be_exported
from jdali.graph.rewriting import moves_only as moves_only
from jdali.graph.rewriting import origin as origin
from jdali.graph.rewriting import passes_on as passes_on
