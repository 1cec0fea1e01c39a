"""Expressions in Spark's JVM, put together from its own classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import Column


class Catalyst:
    """Makes expressions. Whatever it returns is a reference to an object in the JVM.

    Each look for a class costs some milliseconds, so all are found at the beginning.

    Raises:
        Py4JError, TypeError: Spark has no such classes.
    """

    def __init__(self, context: SparkContext) -> None:
        java: Any = context._jvm  # noqa: SLF001 (pyspark's doors to the JVM)
        gateway: Any = context._gateway  # noqa: SLF001
        catalyst = java.org.apache.spark.sql.catalyst.expressions
        types = java.org.apache.spark.sql.types
        self._if, self._literal, self._cast = catalyst.If, catalyst.Literal, catalyst.Cast
        self._invoke, self._static_invoke = catalyst.objects.Invoke, catalyst.objects.StaticInvoke
        self._unsafe = catalyst.UnsafeArrayData
        self._object_type, self._parse_type = types.ObjectType, types.DataType.fromDDL
        self._class_of = java.java.lang.Class.forName
        self._loader = java.java.lang.Thread.currentThread().getContextClassLoader()
        self._to_seq = java.PythonUtils.toSeq
        self._to_column = java.org.apache.spark.sql.classic.ExpressionUtils.column
        self._nothing, self._no_name = self._to_seq([]), java.scala.Option.empty()
        self._new_array, self._int = gateway.new_array, java.int

    def column(self, expression: Any) -> Column:
        """Returns an expression as a column of a DataFrame."""
        from pyspark.sql.classic.column import Column as ClassicColumn

        return ClassicColumn(self._to_column(expression))

    def type(self, words: str) -> Any:
        """Returns a type of SQL."""
        return self._parse_type(words)

    def object_type(self, name: str) -> Any:
        """Returns the type of values that are objects of a class."""
        return self._object_type(self._find(name))

    def class_of(self, name: str) -> Any:
        """Returns a class, as a value."""
        return self._literal(self._find(name), self.object_type("java.lang.Class"))

    def null(self, kind: Any) -> Any:
        """Returns null."""
        return self._literal.create(None, kind)

    def constant(self, number: int, kind: Any) -> Any:
        """Returns a number."""
        return self._literal(number, kind)

    def array(self, numbers: Sequence[int | None], kind: Any) -> Any:
        """Returns a constant array of whole numbers and nulls, or an empty one of any type."""
        given = self._new_array(self._int, len(numbers))
        for place, number in enumerate(numbers):
            given[place] = 0 if number is None else number
        held = self._unsafe.fromPrimitiveArray(given)
        for place, number in enumerate(numbers):
            if number is None:
                held.setNullAt(place)
        return self._literal(held, kind)

    def cast(self, value: Any, kind: Any) -> Any:
        """Returns a value as one of another type."""
        return self._cast(value, kind, self._no_name)

    def choice(self, condition: Any, yes: Any, no: Any) -> Any:
        """Returns one of two values."""
        return self._if(condition, yes, no)

    def call(self, target: Any, method: str, kind: Any, *arguments: Any) -> Any:
        """Returns what a method of a value returns; null if that or an argument is null."""
        given = self._to_seq([*arguments])
        return self._invoke(target, method, kind, given, self._nothing, True, True, True)

    def call_static(self, name: str, method: str, kind: Any, *arguments: Any) -> Any:
        """Returns what a method of a class returns; null if an argument is null."""
        given = self._to_seq([*arguments])
        return self._static_invoke(
            self._find(name), kind, method, given, self._nothing, True, True, True, self._no_name
        )  # fmt: skip

    def _find(self, name: str) -> Any:
        return self._class_of(name, False, self._loader)
