"""Names that the file of an operator imports from `_operators`: a decorator for each kind of operator, the words of a
signature, and helpers of `setup` and `run`. `jdali.plugin.operators` re-exports those that third parties use.

========================  ===============  =================================================================
decorator                 makes a          which is
========================  ===============  =================================================================
`@operator`               `DeviceOp`       compiled, sees one sample
`@batch_operator`         `DeviceBatchOp`  compiled, sees many samples
`@host_operator`          `HostOp`         NumPy, sees one sample, in the thread pool
`@host_batch_operator`    `HostBatchOp`    many samples in, blocks in host memory or on a device out: decoders
`@reader`                 `ReaderOp`       makes samples
`@index_operator`         `IndexOp`        only moves samples
========================  ===============  =================================================================
"""

from jdali._operators.argument_rules import extents_of as extents_of
from jdali._operators.argument_rules import padded as padded
from jdali._operators.argument_rules import shapes_text as shapes_text
from jdali._operators.argument_rules import wrong_length as wrong_length
from jdali._operators.base import REGISTRY as REGISTRY
from jdali._operators.base import Operator as Operator
from jdali._operators.base import is_built_in as is_built_in
from jdali._operators.compiled import CompiledOp as CompiledOp
from jdali._operators.compiled import DeviceBatchOp as DeviceBatchOp
from jdali._operators.compiled import DeviceOp as DeviceOp
from jdali._operators.compiled import batch_operator as batch_operator
from jdali._operators.compiled import operator as operator
from jdali._operators.frames import sample_of as sample_of
from jdali._operators.host import HostBatchOp as HostBatchOp
from jdali._operators.host import HostOp as HostOp
from jdali._operators.host import HostOutputs as HostOutputs
from jdali._operators.host import IndexOp as IndexOp
from jdali._operators.host import Probed as Probed
from jdali._operators.host import ReaderOp as ReaderOp
from jdali._operators.host import Share as Share
from jdali._operators.host import Workers as Workers
from jdali._operators.host import column as column
from jdali._operators.host import host_batch_operator as host_batch_operator
from jdali._operators.host import host_operator as host_operator
from jdali._operators.host import index_operator as index_operator
from jdali._operators.host import reader as reader
from jdali._operators.layout import RankError as RankError
from jdali._operators.layout import refused_layout as refused_layout
from jdali._operators.scaled import Scaled as Scaled
from jdali._operators.scaled import ScaledDecoding as ScaledDecoding
from jdali._operators.schema import Arg as Arg
from jdali._operators.schema import ArgKind as ArgKind
from jdali._operators.schema import InputSpec as InputSpec
from jdali._operators.schema import PerFrame as PerFrame
from jdali._operators.schema import PerSample as PerSample
from jdali._operators.schema import Static as Static
from jdali._operators.shared_arguments import also_takes as also_takes
from jdali._operators.traced import Traced as Traced
from jdali._operators.traced import is_traced as is_traced

KINDS: dict[str, type[Operator]] = {
    kind.__name__: kind for kind in (DeviceOp, DeviceBatchOp, HostOp, HostBatchOp, ReaderOp, IndexOp)
}


def kind_of(name: str) -> type[Operator]:
    """Returns the type of an operator without loading it."""
    return KINDS[REGISTRY.kind_name(name)]
