"""Provides DALI's proxy: workers of a PyTorch `DataLoader` send their samples to one pipeline in the main process.

A worker calls the proxy as a transform and gets references to samples. When the worker collates the references, it sends the
inputs to the `DALIServer`. The server's thread runs the pipeline, and the training loop gets the results as tensors.

    _proxy.py        the transform that a worker calls, references to samples and batches, the collate function
    _mailbox.py      the connection from workers to the server
    _requests.py     the queue of requested and finished batches
    _server.py       the thread that runs the pipeline, and `produce_data`
    _loader.py       a `DataLoader` that replaces references by tensors
"""

from jdali.plugin.pytorch.experimental.proxy._loader import DataLoader
from jdali.plugin.pytorch.experimental.proxy._proxy import DALIOutputBatchRef as DALIOutputBatchRef
from jdali.plugin.pytorch.experimental.proxy._proxy import DALIOutputSampleRef as DALIOutputSampleRef
from jdali.plugin.pytorch.experimental.proxy._proxy import DALIPipelineRunRef as DALIPipelineRunRef
from jdali.plugin.pytorch.experimental.proxy._proxy import (
    _collate_dali_output_sample_ref_fn as _collate_dali_output_sample_ref_fn,
)
from jdali.plugin.pytorch.experimental.proxy._proxy import _DALIProxy as _DALIProxy
from jdali.plugin.pytorch.experimental.proxy._server import DALIServer

__all__ = ["DALIServer", "DataLoader"]
