"""A DataFrame whose arrays of numbers travel as the bytes that Spark keeps them in; see `raw_arrays`.

The bytes are taken by an expression that is put together from classes of Spark, inside its JVM: its interface has no
function for it, and none of ours could be as fast. Before it is used, it is tried on an array whose numbers are known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hopyard.feed.catalyst import Catalyst
from hopyard.feed.raw_arrays import FrameForm, lists_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LOG = logging.getLogger(__name__)
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
KNOWN = [3, 1, 2]
BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNSAFE = "org.apache.spark.sql.catalyst.expressions.UnsafeArrayData"
COLUMNAR = "org.apache.spark.sql.vectorized.ColumnarArray"
TEXT = "org.apache.spark.unsafe.types.UTF8String"


def with_raw_arrays(frame: DataFrame) -> tuple[DataFrame, FrameForm]:
    """Returns a DataFrame with the arrays of numbers of another as bytes, and how its columns are to be read.

    If this Spark does not hold arrays as we know it, the DataFrame is returned as it is, and the log tells.
    """
    from py4j.protocol import Py4JError

    names = tuple(frame.columns)
    raw = frozenset(place for place, field in enumerate(frame.schema) if _is_array(field.dataType))
    if not raw:
        return frame, FrameForm(names=names)
    try:
        catalyst = Catalyst(frame.sparkSession.sparkContext)
        expressions = ArrayExpressions(catalyst)
        expressions.check()
        # in two steps, which Spark does not merge: the first one is computed once, though it is used several times
        held = _selected(frame, raw, lambda array: (expressions.held(array),), catalyst)
        return _selected(held, raw, expressions.parts, catalyst), FrameForm(names=names, raw=raw)
    except (Py4JError, TypeError) as error:  # Py4J takes a class that is not there for a package
        LOG.warning("arrays are fed number by number, which is slow, since this Spark differs: %s", error)
        return frame, FrameForm(names=names)


def _selected(
    frame: DataFrame, raw: frozenset[int], parts: Callable[[Any], tuple[Any, ...]], make: Catalyst
) -> DataFrame:
    """Returns a DataFrame with some columns replaced by others."""
    output = frame._jdf.queryExecution().analyzed().output()  # noqa: SLF001 (there is no other way to them)
    columns: list[Column] = []
    for place in range(output.size()):
        attribute = output.apply(place)
        replaced = parts(attribute) if place in raw else (attribute,)
        columns += [make.column(part).alias(f"{place}/{number}") for number, part in enumerate(replaced)]
    return frame.select(*columns)


def in_small_batches(frame: DataFrame, size: int) -> DataFrame:
    """Returns a DataFrame whose rows get to Spark's Python in batches of some bytes, which caches can hold.

    The setting is that of a session, so it gets one of its own, with everything of the other one but this.
    """
    from pyspark.sql import DataFrame as AnyFrame
    from pyspark.sql import SparkSession

    session: Any = frame.sparkSession
    clone = session._jsparkSession.cloneSession()  # noqa: SLF001 (pyspark has no way to it)
    clone.conf().set(BATCH_BYTES, str(size))
    plan = frame._jdf.queryExecution().logical()  # noqa: SLF001
    rows = session._jvm.org.apache.spark.sql.classic.Dataset.ofRows(clone, plan)  # noqa: SLF001
    return AnyFrame(rows, SparkSession(session.sparkContext, clone))


def _is_array(kind: Any) -> bool:
    from pyspark.sql.types import ArrayType

    return isinstance(kind, ArrayType) and kind.elementType.simpleString() in NUMBERS


class ArrayExpressions:
    """Expressions on arrays.

    Raises:
        Py4JError, TypeError: Spark has none of the kind.
    """

    def __init__(self, catalyst: Catalyst) -> None:
        self._catalyst = catalyst
        self._unsafe, self._columnar = catalyst.class_of(UNSAFE), catalyst.class_of(COLUMNAR)
        self._unsafe_type, self._any = catalyst.object_type(UNSAFE), catalyst.object_type("java.lang.Object")
        self._boolean, self._int, self._long = map(catalyst.type, ("boolean", "int", "bigint"))
        self._text = catalyst.type("string")

    def check(self) -> None:
        """Tries the expression on an array that is known.

        Raises:
            TypeError: Something else came out of it than went in.
        """
        raw, _ = self.parts(self.held(self._catalyst.array(KNOWN, self._catalyst.type("array<int>"))))
        found = raw.eval(None).getBytes()
        lists = lists_of(pa.array([found], pa.binary()), pa.array([[]], pa.list_(pa.int32())))
        if lists.to_pylist() != [KNOWN]:
            raise TypeError(f"the array {KNOWN} is {found!r} in it")

    def held(self, array: Any) -> Any:
        """Returns an array, as bytes if it comes from a columnar file."""
        copied = self._catalyst.call(array, "copy", array.dataType())
        return self._catalyst.choice(self._is_a(self._columnar, array), copied, array)

    def parts(self, held: Any) -> tuple[Any, Any]:
        """Returns the bytes of an array if it is held as such, and an array that is empty then.

        One that a function of Spark has made may be a list of objects, and goes the usual way.
        """
        make, is_unsafe = self._catalyst, self._is_a(self._unsafe, held)
        raw = make.choice(is_unsafe, self._bytes(held), make.null(self._text))
        return raw, make.choice(is_unsafe, make.array([], held.dataType()), held)

    def _is_a(self, kind: Any, value: Any) -> Any:
        return self._catalyst.call(kind, "isInstance", self._boolean, value)

    def _bytes(self, held: Any) -> Any:
        """Returns the memory of an array as a text, which is what Spark copies least on its way to Python."""
        make = self._catalyst
        unsafe = make.call(self._unsafe, "cast", self._unsafe_type, held)
        base = make.call(unsafe, "getBaseObject", self._any)
        offset = make.call(unsafe, "getBaseOffset", self._long)
        size = make.call(unsafe, "getSizeInBytes", self._int)
        return make.call_static(TEXT, "fromAddress", self._text, base, offset, size)
