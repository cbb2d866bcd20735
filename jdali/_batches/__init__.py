"""Represents batches of samples: their memory, their sizes and origins, and the tensors that users see.

* `store`: blocks of memory, and for each sample the index of its block and its row. Reordering samples changes only indices.
* `extent`: true sizes of padded samples. `provenance`: the source samples from which each sample was made.
* `gathering` copies chosen rows to one padded array, `placement` moves arrays to the devices of a sharding.
* `slabs`: host memory, leased and reused. `sent_batch`: a batch for another process.
* `tensor`, `tensor_list`, `texts`: tensors for users. `array_like`: conversion of users' data.
"""

from jdali._batches.array_like import check_alike as check_alike
from jdali._batches.array_like import data_array as data_array
from jdali._batches.array_like import device_of_capsule as device_of_capsule
from jdali._batches.array_like import host_array as host_array
from jdali._batches.array_like import is_on_gpu as is_on_gpu
from jdali._batches.array_like import sample_arrays as sample_arrays
from jdali._batches.extent import BatchSpec as BatchSpec
from jdali._batches.extent import Plan as Plan
from jdali._batches.extent import Rising as Rising
from jdali._batches.extent import mask_padding as mask_padding
from jdali._batches.extent import reflect_101 as reflect_101
from jdali._batches.extent import size_text as size_text
from jdali._batches.extent import valid_mask as valid_mask
from jdali._batches.gathering import gather as gather
from jdali._batches.gathering import padded_by_zeros as padded_by_zeros
from jdali._batches.placement import BatchSplit as BatchSplit
from jdali._batches.placement import batch_shards as batch_shards
from jdali._batches.placement import fitted as fitted
from jdali._batches.placement import lead as lead
from jdali._batches.placement import number_of_batch_shards as number_of_batch_shards
from jdali._batches.placement import of_batch_axis as of_batch_axis
from jdali._batches.placement import over_devices as over_devices
from jdali._batches.placement import place as place
from jdali._batches.placement import stack as stack
from jdali._batches.provenance import Drawn as Drawn
from jdali._batches.provenance import Provenance as Provenance
from jdali._batches.provenance import external as external
from jdali._batches.sent_batch import SentBatch as SentBatch
from jdali._batches.sent_batch import drawn_by as drawn_by
from jdali._batches.sent_batch import receive_batch as receive_batch
from jdali._batches.sent_batch import send_batch as send_batch
from jdali._batches.slabs import MOST_IDLE as MOST_IDLE
from jdali._batches.slabs import LentMemory as LentMemory
from jdali._batches.slabs import SlabPool as SlabPool
from jdali._batches.slabs import aligned_empty as aligned_empty
from jdali._batches.slabs import contiguous as contiguous
from jdali._batches.slabs import empty as empty
from jdali._batches.store import LateBlock as LateBlock
from jdali._batches.store import MakePadded as MakePadded
from jdali._batches.store import PaddedBlock as PaddedBlock
from jdali._batches.store import RaggedBlock as RaggedBlock
from jdali._batches.store import RowSlice as RowSlice
from jdali._batches.store import SamplesBlock as SamplesBlock
from jdali._batches.store import Store as Store
from jdali._batches.store import compact as compact
from jdali._batches.tensor import Tensor as Tensor
from jdali._batches.tensor import TensorCPU as TensorCPU
from jdali._batches.tensor import TensorGPU as TensorGPU
from jdali._batches.tensor import check_layout as check_layout
from jdali._batches.tensor import dali_type as dali_type
from jdali._batches.tensor import device_array as device_array
from jdali._batches.tensor import same_layout as same_layout
from jdali._batches.tensor_list import TensorList as TensorList
from jdali._batches.tensor_list import position as position
from jdali._batches.texts import batch_text as batch_text
from jdali._batches.texts import tensor_text as tensor_text
