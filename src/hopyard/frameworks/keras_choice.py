"""Which Keras a program gets: the driver's choice goes with it, and errors of Keras 2 programs on Keras 3 say so."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

LEGACY = "TF_USE_LEGACY_KERAS"
VARIABLES = (LEGACY, "KERAS_BACKEND")

_ADVICE = (
    "This looks like a program for Keras 2 that runs on Keras {version}. It runs on Keras 2 with "
    "`pip install tf_keras` and the variable TF_USE_LEGACY_KERAS=1 set where the driver starts."
)
_ESTIMATOR_ADVICE = (
    "TensorFlow {version} has no tf.estimator any more; 2.15 is the last release with it: "
    "pip install 'tensorflow==2.15.*' 'numpy<2' 'pyarrow<26' (Python 3.11)."
)
# What Keras 3 and TensorFlow say to programs that Keras 2 took.
_KERAS_2 = re.compile(
    r"must end in `?\.weights\.h5"
    r"|must end in `?\.keras"
    r"|Invalid filepath extension for saving"
    r"|File format not supported"
    r"|deprecated in Keras 3"
    r"|PerReplica"
    r"|ClusterCoordinator\.create_per_worker_dataset"
    r"|Argument\(s\) not recognized: \{'(lr|decay)'"
    r"|`?keras\.optimizers\.legacy`? is not supported in Keras 3"
    r"|unexpected keyword argument '(workers|use_multiprocessing|max_queue_size|save_format|period)'"
    r"|has no attribute '(fit_generator|evaluate_generator|predict_generator|predict_classes|predict_proba)'"
    r"|module 'keras[^']*' has no attribute"
    r"|No module named 'keras\.(engine|wrappers|preprocessing\.image)"
)
_ESTIMATOR = re.compile(
    r"module '(tensorflow|keras)[^']*' has no attribute 'estimator'|cannot import name 'estimator'"
)


def keras_choice(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns the variables of the driver that say which Keras is used; the processes of a run get them, too."""
    return {name: environ[name] for name in VARIABLES if name in environ}


@contextmanager
def keras_advice() -> Iterator[None]:
    """Adds a note to an error that programs for Keras 2 get on Keras 3."""
    try:
        yield
    except Exception as error:
        note = advice(error, _version("keras"), _version("tensorflow"))
        if note:
            error.add_note(note)
        raise


def advice(error: Exception, keras: str, tensorflow: str) -> str:
    """Returns what to tell of an error, by the versions that are loaded; empty if it has nothing to do with them."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  of a class of the user's own, whose text is nobody's
        return ""
    if tensorflow and _ESTIMATOR.search(text):
        return _ESTIMATOR_ADVICE.format(version=tensorflow)
    if keras.startswith("3") and _KERAS_2.search(text):
        return _ADVICE.format(version=keras)
    return ""


def _version(module: str) -> str:
    """Returns the version of a module that is loaded; empty if it is not."""
    return str(getattr(sys.modules.get(module), "__version__", ""))
