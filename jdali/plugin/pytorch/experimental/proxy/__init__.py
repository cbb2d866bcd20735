"""DALI's proxy: the workers of a PyTorch `DataLoader` hand their samples to one pipeline in the main process.

A worker calls the proxy in place of a transform and gets references. Where they are collated, the worker sends the
inputs to the `DALIServer`, whose thread runs the pipeline on them; the loop gets the results as tensors.

    _references.py   what stands for samples and batches that are not there yet
    _proxy.py        what a worker calls, and how its samples become a batch
    _mailbox.py      the way from the workers to the server
    _requests.py     batches on their way: asked for, made, taken
    _server.py       the thread that runs the pipeline, and `produce_data`
    _loader.py       a `DataLoader` that does the rest
"""

from jdali.plugin.pytorch.experimental.proxy._loader import DataLoader
from jdali.plugin.pytorch.experimental.proxy._proxy import (
    _collate_dali_output_sample_ref_fn as _collate_dali_output_sample_ref_fn,
)
from jdali.plugin.pytorch.experimental.proxy._proxy import _DALIProxy as _DALIProxy
from jdali.plugin.pytorch.experimental.proxy._references import (
    DALIOutputBatchRef as DALIOutputBatchRef,
)
from jdali.plugin.pytorch.experimental.proxy._references import (
    DALIOutputSampleRef as DALIOutputSampleRef,
)
from jdali.plugin.pytorch.experimental.proxy._references import (
    DALIPipelineRunRef as DALIPipelineRunRef,
)
from jdali.plugin.pytorch.experimental.proxy._server import DALIServer

__all__ = ["DALIServer", "DataLoader"]
