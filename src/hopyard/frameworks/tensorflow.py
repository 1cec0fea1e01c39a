"""TensorFlow: its cluster, its share of a GPU, its datasets, and what it makes of errors and of a node's output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from hopyard.frameworks.base import Advice, Framework, GpuShare, advise, text_of, version_of
from hopyard.protocol.plan import Role

if TYPE_CHECKING:
    from hopyard.frameworks.selection import Selection
    from hopyard.frameworks.source import EpochSource
    from hopyard.protocol.cluster_map import ClusterMap
    from hopyard.protocol.plan import Node

TF_CONFIG = "TF_CONFIG"

# What TensorFlow 2 says to programs for earlier releases. They are lost to Keras 2, too, so the table is not in `keras`.
_OLDER = (
    Advice(
        re.compile(
            r"module '(tensorflow|keras)[^']*' has no attribute 'estimator'|cannot import name 'estimator'"
        ),
        "TensorFlow {version} has no tf.estimator any more; 2.15 is the last release with it: "
        "pip install 'tensorflow==2.15.*' 'numpy<2' 'pyarrow<26' (Python 3.11).",
    ),
    Advice(
        re.compile(
            r"has no attribute 'contrib'|No module named 'tensorflow\.contrib|cannot import name 'contrib'"
        ),
        "tf.contrib ended with TensorFlow 1. Parts of it are packages of their own (tf_slim, tensorflow_probability); "
        "its layers are in tf.keras.layers.",
    ),
    Advice(
        re.compile(r"No module named 'tensorflow\.examples"),
        "The tutorials are not in TensorFlow {version}; tf.keras.datasets.mnist.load_data() returns the images.",
    ),
    Advice(
        re.compile(r"Keras cannot be imported\. Check that it is installed"),
        "TF_USE_LEGACY_KERAS=1 asks for Keras 2: pip install tf_keras, in the version of TensorFlow ({version}), where the "
        "nodes run, too.",
    ),
    Advice(
        re.compile(r"has no attribute 'predict_(classes|proba)'"),
        "No Keras of TensorFlow {version} has it: model.predict(x) returns the probabilities, and "
        "model.predict(x).argmax(axis=-1) the classes.",
    ),
)
_NO_ATTRIBUTE = re.compile(
    r"module 'tensorflow(\._api\.v2\.(?P<part>[\w.]+))?' has no attribute '(?P<name>\w+)'"
)
_TENSORFLOW_1 = (
    "This is a program for TensorFlow 1. Most run on TensorFlow {version} if they say "
    "`import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()` instead of `import tensorflow as tf`."
)


class TensorFlow(Framework):
    """TensorFlow 2, with or without Keras."""

    # What it writes of itself when it starts, and, over and over, when the other end of a collective operation is gone.
    chatter = re.compile(
        r"""^I\d{4}\ [\d:.]+\ +\d+\ \S+:\d+\]
        |^\d{4}-\d\d-\d\d\ [\d:.]+:\ I\ \S+:\d+\]
        |^To\ enable\ the\ following\ instructions:
        |^WARNING:\ All\ log\ messages\ before\ absl::InitializeLog
        |^/job:\w+/replica:\d+/task:\d+$
        |StartAbort
        |failed\ call\ to\ cuInit:.*UNKNOWN\ ERROR\ \(303\)  # a machine without GPUs
        |Collective\ ops\ is\ aborted
        |rendezvous\ is\ aborting
        |could\ be\ from\ a\ previous\ operation
        |^The\ tasks\ have\ crashed\.\ Check\ the\ task\ logs
        |Additional\ GRPC\ error\ information
        |^:UNKNOWN:Error\ received\ from\ peer
        |\[\[\{\{node\ .*Collective
        |\[type\.googleapis\.com/tensorflow\.DerivedStatus
        """,
        re.VERBOSE,
    )
    empty = re.compile(
        r"^(Graph execution error:|Detected at node |<stack traces unavailable>|\d+ root error)"
    )
    retold = re.compile(
        r"^(?:[WE]\d{4} |\d{4}-\d\d-\d\d [\d:.]+: [WE] ).*\] .*?\b[A-Z_]{2,}: (?P<error>\w+: .+)$"
    )

    def variables(self, node: Node, cluster: ClusterMap) -> dict[str, str]:
        """Returns TF_CONFIG.

        The evaluator is no part of the cluster that it evaluates: it is listed for itself only, as strategies
        look for the address of their own task.
        """
        addresses = {role: list(some) for role, some in cluster.by_role.items()}
        if node.role is not Role.EVALUATOR:
            addresses.pop(Role.EVALUATOR.value, None)
        task = {"type": node.role.value, "index": node.task_index}
        return {TF_CONFIG: json.dumps({"cluster": addresses, "task": task})}

    def memory_variables(self, share: GpuShare) -> dict[str, str]:
        """Returns the variable for processes that the node starts: they have no limit, but do not take all at once."""
        return {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}

    def limit_memory(self, module: Any, share: GpuShare) -> None:
        """Makes one logical device of limited memory out of the GPU that TensorFlow sees, if it sees any."""
        gpus = module.config.list_physical_devices("GPU")
        if not gpus:
            return
        limit = module.config.LogicalDeviceConfiguration(
            memory_limit=int(share.fraction * share.memory_mib())
        )
        module.config.set_logical_device_configuration(gpus[0], [limit])

    def dataset(self, source: EpochSource, batch_size: int, selection: Selection) -> Any:
        """Returns a `tf.data.Dataset` of batches."""
        from hopyard.frameworks.tensorflow_data import feed_dataset

        return feed_dataset(source, batch_size, selection)

    def explain(self, error: Exception, module: Any, noted: Sequence[Exception]) -> Exception:
        """Returns the error of Python code that TensorFlow has made its own of, with advice to programs for older releases."""
        error = hidden_error(error, noted) or error
        version = version_of(module)
        if version:
            advise(error, chain(_OLDER, _missing_in_2(error, module)), version)
        return error


def _missing_in_2(error: Exception, module: Any) -> Iterator[Advice]:
    """Yields the advice for an error that TensorFlow 1 would not have raised, if it is one."""
    missing = _NO_ATTRIBUTE.search(text_of(error))
    if missing is None:
        return
    names = [*filter(None, (missing["part"] or "").split(".")), missing["name"]]
    found = module.compat.v1
    for name in names:
        found = getattr(found, name, None)
    if found is not None:
        yield Advice(_NO_ATTRIBUTE, _TENSORFLOW_1)


def hidden_error(error: Exception, noted: Sequence[Exception]) -> Exception | None:
    """Returns the error that one of TensorFlow was made of; None if it was made of none, or is not of TensorFlow.

    TensorFlow keeps only the text and the traceback of what Python code raises that it has called.

    Args:
        error: What a function raised.
        noted: What was raised in code that TensorFlow had called.
    """
    if type(error).__module__.partition(".")[0] != "tensorflow":
        return None
    text = str(error)
    found = (each for each in reversed(noted) if f"{type(each).__name__}: {each}" in text)
    return next(found, None)
