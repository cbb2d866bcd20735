"""The operators as functions that add a node to the pipeline being defined.

Every function here is made from the operator's one record; `jdali.ops` has the same operators as
pure functions on arrays, and as classes (`ops.Resize`), `jdali.dynamic` as functions that run at once.
"""

import sys
from operator import attrgetter

import jdali.ops
import jdali.readers
from jdali._operators.record import REGISTRY
from jdali._operators.surface import ALIASES, class_name, place
from jdali.fn import _special
from jdali.fn._build import make_function
from jdali.fn._classes import Compose, make_class

_HIDDEN = ("_", "math.")  # parts of expressions and of the engine, not called by users

for _op in REGISTRY.values():
    if not _op.name.startswith(_HIDDEN):
        _function = getattr(_special, _op.name.replace(".", "_"), None) or make_function(_op)
        place(sys.modules[__name__], _op.name, _function, sys.modules)
        place(jdali.ops, class_name(_op.name), make_class(_op, _function), sys.modules)

for _old, _new in ALIASES.items():
    place(sys.modules[__name__], _old, attrgetter(_new)(sys.modules[__name__]), sys.modules)
    place(jdali.ops, class_name(_old), attrgetter(class_name(_new))(jdali.ops), sys.modules)

place(jdali.ops, "Compose", Compose, sys.modules)
