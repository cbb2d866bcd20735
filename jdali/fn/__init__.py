"""Provides operators as functions that add a node to the pipeline being defined.

Functions are generated from the operators' definitions. `jdali.ops` provides the same operators as pure functions of arrays
and as classes (`ops.Resize`). `jdali.dynamic` provides them as functions that run at once.
"""

from jdali._operators.surface import ALIASES as _ALIASES
from jdali._operators.surface import fill as _fill
from jdali._system.lazy import imported as _imported
from jdali.fn._functions import deprecated as _deprecated
from jdali.fn._functions import shown as _shown

_fill(__name__, _shown, _ALIASES, deprecated=_deprecated)
_imported(__name__, {"_conditional": f"{__name__}._conditional"})
