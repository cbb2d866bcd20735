"""The operators as functions that add a node to the pipeline being defined.

Every function here is made from the operator's one record; `jdali.ops` has the same operators as
pure functions on arrays, and as classes (`ops.Resize`), `jdali.dynamic` as functions that run at once.
"""

import sys
from operator import attrgetter

import jdali.ops
import jdali.readers
from jdali._operators.record import REGISTRY, Operator
from jdali._operators.surface import ALIASES, class_name, place
from jdali.fn import _special
from jdali.fn._build import make_function
from jdali.fn._classes import Compose, make_class

_HIDDEN = ("_", "math.")  # parts of expressions and of the engine, not called by users


def _expose(op: Operator) -> None:
    """Makes the function of an operator, and its class in `jdali.ops`."""
    if not op.name.startswith(_HIDDEN):
        function = getattr(_special, op.name.replace(".", "_"), None) or make_function(op)
        place(sys.modules[__name__], op.name, function, sys.modules)
        place(jdali.ops, class_name(op.name), make_class(op, function), sys.modules)


for _op in REGISTRY.values():
    _expose(_op)

for _old, _new in ALIASES.items():
    place(sys.modules[__name__], _old, attrgetter(_new)(sys.modules[__name__]), sys.modules)
    place(jdali.ops, class_name(_old), attrgetter(class_name(_new))(jdali.ops), sys.modules)

place(jdali.ops, "Compose", Compose, sys.modules)
