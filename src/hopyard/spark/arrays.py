"""A DataFrame whose arrays of numbers travel as the bytes that Spark keeps them in; see `raw_arrays`.

The bytes are taken by an expression that is put together from classes of Spark, inside its JVM: its interface has no
function for it, and none of ours could be as fast. Before it is used, it is tried on an array whose numbers are known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hopyard.spark.catalyst import Catalyst
from hopyard.spark.column_names import are_plain, places
from hopyard.spark.raw_arrays import FrameForm, lists_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LOG = logging.getLogger(__name__)
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
KNOWN = [3, 1, 2]
BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNSAFE = "org.apache.spark.sql.catalyst.expressions.UnsafeArrayData"
COLUMNAR = "org.apache.spark.sql.vectorized.ColumnarArray"
TEXT = "org.apache.spark.unsafe.types.UTF8String"
BITS = "org.apache.spark.unsafe.bitset.BitSetMethods"
MATH = "java.lang.Math"
WORD = 8


def with_raw_arrays(frame: DataFrame) -> tuple[DataFrame, FrameForm]:
    """Returns a DataFrame with the arrays of numbers of another as bytes, and how its columns are to be read.

    If this Spark does not hold arrays as we know it, they stay as they are, and the log tells.
    """
    from py4j.protocol import Py4JError

    raw = frozenset(place for place, field in enumerate(frame.schema) if _is_array(field.dataType))
    if not raw:
        return _with_plain_names(frame)
    try:
        catalyst = Catalyst(frame.sparkSession.sparkContext)
        expressions = ArrayExpressions(catalyst)
        expressions.check()
        # in two steps, which Spark does not merge: the first one is computed once, though it is used several times
        held = _selected(frame, raw, lambda array: (expressions.held(array),), catalyst)
        names = tuple(frame.columns)
        return _selected(held, raw, expressions.parts, catalyst), FrameForm(names=names, raw=raw)
    except (Py4JError, TypeError) as error:  # Py4J takes a class that is not there for a package
        LOG.warning("arrays are fed number by number, which is slow, since this Spark differs: %s", error)
        return _with_plain_names(frame)


def _with_plain_names(frame: DataFrame) -> tuple[DataFrame, FrameForm]:
    """Returns a DataFrame whose columns Spark can find by their names, and how they are to be read.

    It looks up by name what it hands to Python, and takes ``a.b`` for a part of ``a`` and, usually, ``X`` for ``x``.
    """
    names = tuple(frame.columns)
    if are_plain(names):
        return frame, FrameForm(names=names)
    return frame.toDF(*places(names)), FrameForm(names=names, is_renamed=True)


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
        """Tries the expression on arrays that are known.

        Raises:
            TypeError: Something else came out of it than went in.
        """
        found = self._bytes_of(KNOWN)
        lists = lists_of(pa.array([found], pa.binary()), pa.array([[]], pa.list_(pa.int32())))
        if lists.to_pylist() != [KNOWN]:
            raise TypeError(f"the array {KNOWN} is {found!r} in it")
        unknown = self._bytes_of([*KNOWN, None])
        if unknown is not None:
            raise TypeError(f"an array with a null is {unknown!r} in it")

    def _bytes_of(self, numbers: Sequence[int | None]) -> bytes | None:
        make = self._catalyst
        raw, _ = self.parts(self.held(make.array(numbers, make.type("array<int>"))))
        found = raw.eval(None)
        return None if found is None else found.getBytes()

    def held(self, array: Any) -> Any:
        """Returns an array, as bytes if it comes from a columnar file."""
        copied = self._catalyst.call(array, "copy", array.dataType())
        return self._catalyst.choice(self._is_a(self._columnar, array), copied, array)

    def parts(self, held: Any) -> tuple[Any, Any]:
        """Returns the bytes of the numbers of an array if it is held as such, and an array that is empty then.

        One that has nulls among its numbers goes the usual way, and so does one that a function of Spark has made, which
        may be a list of objects.
        """
        make = self._catalyst
        is_unsafe, has_nulls = self._is_a(self._unsafe, held), self._has_nulls(held)
        no_bytes, nothing = make.null(self._text), make.array([], held.dataType())
        return (
            make.choice(is_unsafe, make.choice(has_nulls, no_bytes, self._numbers(held)), no_bytes),
            make.choice(is_unsafe, make.choice(has_nulls, held, nothing), held),
        )

    def _is_a(self, kind: Any, value: Any) -> Any:
        return self._catalyst.call(kind, "isInstance", self._boolean, value)

    # The memory of an array is its head, which is a word with the count of its numbers and as many words as there must be
    # for a bit for each number that tells whether it is null; and the numbers.

    def _has_nulls(self, held: Any) -> Any:
        make = self._catalyst
        base, start, head, _ = self._memory(held)
        words = make.call_static(MATH, "floorDiv", self._long, head, self._number(WORD))
        return make.call_static(
            BITS,
            "anySet",
            self._boolean,
            base,
            self._sum(start, self._number(WORD)),
            self._sum(words, self._number(-1)),
        )

    def _numbers(self, held: Any) -> Any:
        """Returns the numbers of an array as a text, which is what Spark copies least on its way to Python."""
        make = self._catalyst
        base, start, head, count = self._memory(held)
        width = make.constant(held.dataType().elementType().defaultSize(), self._int)
        size = make.call_static(MATH, "multiplyExact", self._int, count, width)
        return make.call_static(TEXT, "fromAddress", self._text, base, self._sum(start, head), size)

    def _memory(self, held: Any) -> tuple[Any, Any, Any, Any]:
        """Returns where the memory of an array is, the size of its head, and the count of its numbers."""
        make = self._catalyst
        unsafe = make.call(self._unsafe, "cast", self._unsafe_type, held)
        count = make.call(unsafe, "numElements", self._int)
        return (
            make.call(unsafe, "getBaseObject", self._any),
            make.call(unsafe, "getBaseOffset", self._long),
            make.call_static(
                UNSAFE, "calculateHeaderPortionInBytes", self._long, make.cast(count, self._long)
            ),
            count,
        )

    def _number(self, number: int) -> Any:
        return self._catalyst.cast(self._catalyst.constant(number, self._int), self._long)

    def _sum(self, one: Any, other: Any) -> Any:
        return self._catalyst.call_static(MATH, "addExact", self._long, one, other)
