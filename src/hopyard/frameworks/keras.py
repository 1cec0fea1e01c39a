"""Keras: which one a program gets, its callback, what it leaves of a trial, and advice to programs for Keras 2."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from numbers import Real
from types import FrameType
from typing import Any

from hopyard.errors import ColumnsDoNotFit
from hopyard.frameworks.base import Advice, Framework, Report, advise, text_of, version_of

_ON_KERAS_2 = (
    "This looks like a program for Keras 2 that runs on Keras {version}. It runs on Keras 2 with "
    "`pip install tf_keras` and the variable TF_USE_LEGACY_KERAS=1 set where the driver starts."
)
# What Keras 3 and TensorFlow say to programs that Keras 2 took. Keras 2 is not the cure for tf.estimator.
_KERAS_2 = (
    Advice(
        re.compile(
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
            r"|has no attribute '(fit_generator|evaluate_generator|predict_generator)'"
            r"|module 'keras[^']*' has no attribute (?!'estimator')"
            r"|No module named 'keras\.(engine|wrappers|preprocessing\.image)"
        ),
        _ON_KERAS_2,
    ),
)

# What models say to columns of a feed that they cannot take as they are. The first row that fits is shown.
_COLUMNS = (
    Advice(
        re.compile(
            r"(doesn't match the expected structure|expects 1 input\(s\), but it received|Sequential\.call\(\)).*inputs=\{'",
            re.DOTALL,
        ),
        "The model has one input and takes one tensor, but as_tf_dataset() gives columns by name. To train, say which column to "
        "learn (label=), and put the others into one of arrays in Spark (VectorAssembler, or array('a', 'b')). To predict, give "
        "it the tensor: for batch in dataset: feed.batch_results(model.predict_on_batch(batch['features'])).",
    ),
    Advice(
        re.compile(r"expected min_ndim=2, found ndim=1"),
        "The layer takes several numbers for each row. A column of the feed with one number becomes one of arrays in Spark "
        "(array('x')); text has to become numbers (StringIndexer, or keras.layers.StringLookup), and lists that vary in "
        "length have to be padded.",
    ),
    Advice(
        re.compile(r"Cast string to \w+ is not supported|Invalid dtype: (object|str)"),
        "Text cannot be learnt: make numbers of the column in Spark (StringIndexer, or cast), or in the model "
        "(keras.layers.StringLookup).",
    ),
    Advice(
        re.compile(
            r"fully-defined \(no `None` dimensions\)|Failed to convert a NumPy array to a Tensor \(Unsupported object type"
        ),
        "Lists that vary in length have no shape that a layer could be built for: pad them to one length in Spark, or in the "
        "dataset: dataset.map(lambda x, y: (x.to_tensor(shape=(None, 100)), y)).",
    ),
)

_OTHER_NAMES = re.compile(
    r"The structure of `inputs` doesn't match the expected structure\.?\s*Expected: (?P<expected>.*?)\s*Received: inputs=(?P<received>.*)",
    re.DOTALL,
)
# What `fit`, `evaluate` and `predict` say that got a feed, and not a dataset of it.
_NO_DATASET = re.compile(
    r"Unrecognized data type: .*\.(DataFeed|Epoch|ValidationFeed)'|Failed to find data adapter.*data_feed\.",
    re.DOTALL,
)
_DATASET = "A feed is no dataset: give model.fit(ctx.feed().as_tf_dataset(32, label=...))."


class Keras(Framework):
    """Keras 3 and tf_keras."""

    empty = re.compile(r"^Exception encountered when calling ")
    driver_variables = ("TF_USE_LEGACY_KERAS", "KERAS_BACKEND")

    def callback(self, report: Report, package: str) -> Any:
        """Returns a callback for ``fit`` of models of ``keras`` or ``tf_keras``."""
        # Each Keras asks its callbacks for methods of its own base class, so there is a class for either.
        base = import_module(f"{package}.callbacks").Callback
        return type("KerasReport", (_EpochEnds, base), {})(report)

    def explain(self, error: Exception, module: Any, noted: Sequence[Exception]) -> Exception:
        """Adds a note to an error that programs for Keras 2 get on Keras 3, or who trains on the feed itself, or on columns that fit no model."""
        version = version_of(module)
        if version.startswith("3"):
            advise(error, _KERAS_2, version)
        advise(error, _COLUMNS, version)
        if _NO_DATASET.search(text_of(error)):
            error.add_note(_DATASET)
        return error

    def is_collecting(self, frame: FrameType) -> bool:
        """Tells whether it is ``predict`` of a dataset, which joins the results of all batches."""
        if frame.f_code.co_name != "predict":
            return False
        packages = (str(frame.f_globals.get("__name__")), type(frame.f_locals.get("x")).__module__)
        return packages[0].startswith(("keras.", "tf_keras.")) and packages[1].startswith(
            ("tensorflow.python.data.", "tensorflow.python.distribute.")
        )

    def watching(self) -> AbstractContextManager[None]:
        """Returns a context in which columns that a model would take by their order are an error."""
        return _columns_by_name()

    def forget(self, module: Any) -> None:
        """Drops what Keras keeps of models, which else grows from trial to trial."""
        module.backend.clear_session()


@contextmanager
def _columns_by_name() -> Iterator[None]:
    """Raises where Keras warns that a model gets other names than it has: it then takes columns in alphabetical order."""
    noted: list[ColumnsDoNotFit] = []
    with warnings.catch_warnings():
        warnings.filterwarnings("always", message=_OTHER_NAMES.pattern, category=UserWarning)
        show = warnings.showwarning

        def show_or_raise(message: Any, *more: Any, **named: Any) -> None:
            misfit = _misfit(str(message))
            if misfit is None:
                show(message, *more, **named)
            else:
                noted.append(misfit)
                raise misfit

        warnings.showwarning = show_or_raise
        try:
            yield
        except Exception as error:
            if not noted:
                raise
            # Keras has made an error of its own of it by now
            raise noted[0].with_traceback(error.__traceback__) from None


def _misfit(message: str) -> ColumnsDoNotFit | None:
    """Returns what a warning of Keras means, if it is about the names of inputs; otherwise None."""
    match = _OTHER_NAMES.match(message)
    if match is None:
        return None
    try:
        expected, received = (ast.literal_eval(match[name]) for name in ("expected", "received"))
    except (ValueError, SyntaxError):  # structures that are no dicts of names
        return None
    if not isinstance(expected, dict) or not isinstance(received, dict):
        return None  # it is by name, or there are no names
    return None if set(expected) == set(received) else ColumnsDoNotFit(tuple(received), tuple(expected))


class _EpochEnds:
    """What the callbacks for both versions of Keras have in common."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def on_epoch_end(self, epoch: int, logs: Mapping[str, object] | None = None) -> None:
        """Reports an epoch; Keras calls it."""
        numbers = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, Real)}
        if numbers:
            self._report(epoch, **numbers)
