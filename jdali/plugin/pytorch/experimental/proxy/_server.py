"""Runs the pipeline in a thread, and replaces references in a loop's data by the pipeline's results."""

from __future__ import annotations

import dataclasses
import inspect
import os
import threading
import weakref
from typing import Any

from jdali.pipeline import Pipeline
from jdali.plugin.dicts import own_outputs
from jdali.plugin.pytorch.experimental.proxy._mailbox import Mailbox, Office
from jdali.plugin.pytorch.experimental.proxy._proxy import (
    DALIOutputBatchRef,
    DALIOutputSampleRef,
    DALIPipelineRunRef,
    _DALIProxy,
)
from jdali.plugin.pytorch.experimental.proxy._requests import Requests, Ticket
from jdali.plugin.pytorch.torch_utils import dense_tensors
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class _Failed:
    error: Exception


class DALIServer:
    """Runs a pipeline on samples that the workers of a PyTorch `DataLoader` send.

    ```python
    with proxy.DALIServer(pipeline) as server:
        data = torchvision.datasets.ImageFolder(folder, transform=server.proxy, loader=read)
        for images, labels in proxy.DataLoader(server, data, batch_size=16, num_workers=4):
            ...
    ```

    Args:
        pipeline: a pipeline whose batch size is at least the loader's. It must have at least one external source without a
            `source`.
        deterministic: whether to compute batches in the order of the loop, so that random operators return the same values in
            each run. Then the server starts a batch only when the loop requests it.

    Raises:
        TypeError: `pipeline` is not a pipeline.
        RuntimeError: the pipeline has no input.
    """

    def __init__(self, pipeline: Pipeline, deterministic: bool = False):
        if not isinstance(pipeline, Pipeline):
            raise TypeError(
                f"DALIServer: expected a pipeline, got {type(pipeline).__name__}: {pipeline!r:.60}"
            )
        self._pipe = pipeline
        names = pipeline.fed_inputs
        if not names:
            raise RuntimeError(
                "DALIServer: the pipeline has no inputs: it needs an fn.external_source(name=...) without a source"
            )
        kind = inspect.Parameter.KEYWORD_ONLY if names[1:] else inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature(
            [inspect.Parameter(name, kind) for name in names],
            return_annotation=(DALIOutputSampleRef,) * pipeline.num_outputs,
        )
        self._office = Office()
        self._requests = self._office.requests
        self._proxy = _DALIProxy(signature, Mailbox(self._office.address), deterministic)
        self._thread: threading.Thread | None = None
        weakref.finalize(self, _abandon, self._office)

    @property
    def proxy(self) -> _DALIProxy:
        """Returns a transform for data sets. It takes a sample's inputs and returns references to the sample's outputs."""
        return self._proxy

    def start_thread(self) -> None:
        """Starts the thread that runs the pipeline, unless it is running; prefer `with server:`."""
        if not self._is_thread_running():
            self.stop_thread()  # an earlier thread may still be ending
            self._requests.open()
            self._thread = threading.Thread(
                target=_serve, args=(self._pipe, self._requests), name="jdali-proxy-pipeline", daemon=True
            )
            self._thread.start()

    def stop_thread(self) -> None:
        """Ends the thread after its current batches, and drops batches that the loop has not taken."""
        if self._thread is None or self._office.process != os.getpid():
            return
        self._requests.close()
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def _let_thread_end(self) -> None:
        """Stops the thread without waiting, since the garbage collector may call this at any time."""
        if self._office.process == os.getpid():
            self._requests.close()

    def _is_thread_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive() and self._requests.is_open

    def __enter__(self) -> DALIServer:
        self.start_thread()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop_thread()

    def produce_data(self, obj: object) -> Any:
        """Replaces all references to batches in an object by tensors; waits for unfinished batches.

        Args:
            obj: any object. Its lists, dicts, tuples and attributes are searched, even in reference cycles. Lists, dicts and
                objects are changed in place; tuples are replaced.

        Returns: `obj`, or its replacement. Each batch becomes a tensor [N, ...] on the device of its data; the user may keep
            it and write to it.

        Raises:
            OperatorError: the pipeline failed at the batch.
            RuntimeError: the server is not running, or the batch was sent to another server or was dropped.
            ValueError: the samples of an output differ in shape.
        """
        return self._produce(obj, {}, [])

    def _produce_next(self, obj: object, *, forget: bool) -> Any:
        """Implements `produce_data` for the next batch of a loop.

        `forget` drops batches that the workers of this loop sent for an earlier loop, which ended early.
        """
        tickets: list[Ticket] = []
        result = self._produce(obj, {}, tickets)
        for ticket in tickets if forget else ():
            self._requests.forget_before(ticket)
        return result

    def _forget(self, owner: str) -> None:
        if self._office.process == os.getpid():
            self._requests.forget(owner)

    def _produce(self, obj: object, done: dict[int, object], tickets: list[Ticket]) -> Any:
        if isinstance(obj, DALIOutputBatchRef):
            outputs = self._outputs_of(obj.pipe_run_ref)
            if obj.pipe_run_ref.ticket is not None:
                tickets.append(obj.pipe_run_ref.ticket)
            return outputs[obj.output_idx]
        if isinstance(obj, DALIOutputSampleRef):
            raise RuntimeError(
                "DALIServer: there is a sample that was not collated to a batch: use PyTorch's default collate_fn "
                "with a batch_size, or collate what the proxy returned in your own"
            )
        if isinstance(obj, tuple):
            items = [self._produce(item, done, tickets) for item in obj]
            if all(new is old for new, old in zip(items, obj, strict=True)):
                return obj
            return type(obj)._make(items) if hasattr(obj, "_make") else type(obj)(items)
        container = _container(obj)
        if container is None or id(obj) in done:
            return obj
        done[id(obj)] = obj
        for key, value in list(container.items() if isinstance(container, dict) else enumerate(container)):
            produced = self._produce(value, done, tickets)
            if produced is not value:
                container[key] = produced
        return obj

    def _outputs_of(self, run: DALIPipelineRunRef) -> tuple[Any, ...]:
        if run.outputs is None:
            if run.ticket is None:  # a deterministic server: the reference still holds the inputs
                run.ticket = self._requests.add_own(run.call_args)
                run.is_scheduled, run.call_args = True, {}
            outcome = self._requests.take(run.ticket)
            if isinstance(outcome, _Failed):
                try:
                    raise outcome.error
                finally:
                    del outcome  # break the reference cycle between the error and this frame
            run.outputs = tuple(dense_tensors(range(len(outcome)), outcome, own_outputs([self._pipe])))
        return run.outputs


def _container(obj: object) -> Any:
    """Returns a dict or list unchanged, and the attributes of any other object; None for an object without attributes."""
    if isinstance(obj, (dict, list)):
        return obj
    if isinstance(obj, type) or inspect.ismodule(obj):
        return None
    return getattr(obj, "__dict__", None) or None


def _abandon(office: Office) -> None:
    """Stops the thread without waiting, for the garbage collector and the interpreter's exit."""
    if office.process == os.getpid():  # a forked process could wait forever for a lock
        office.requests.close()
        office.close()


def _serve(pipe: Pipeline, requests: Requests) -> None:
    """Runs the pipeline on requests until the server stops; as many batches run at once as the pipeline prefetches."""
    making: list[Ticket] = []
    failure = None
    try:
        while True:
            request = requests.next(wait=not making)
            if request is not None:
                if _begins(pipe, requests, *request):
                    making.append(request[0])
                del request  # free the inputs
                if len(making) < pipe.cpu_queue_size:
                    continue
            if not making:
                return
            requests.put(making.pop(0), _outcome(pipe))
    except BaseException as error:
        failure = error
        raise
    finally:
        requests.close(failure)


def _begins(pipe: Pipeline, requests: Requests, ticket: Ticket, arguments: dict[str, Any]) -> bool:
    """Starts a batch; on failure, stores the error as its outcome and returns False."""
    try:
        pipe.feed_inputs(arguments, copy=False)
        pipe.schedule_run()
    except Exception as error:
        requests.put(ticket, _Failed(error))
        return False
    return True


def _outcome(pipe: Pipeline) -> tuple[TensorList, ...] | _Failed:
    try:
        return pipe.share_outputs()
    except StopIteration as end:
        error = RuntimeError(
            "DALIServer: a source of the pipeline is at its end; Pipeline.reset starts it again"
        )
        error.__cause__ = end  # a raised StopIteration would silently end the user's loop
        return _Failed(error)
    except Exception as error:
        return _Failed(error)
