"""What a user wants of the columns of a feed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hopyard.errors import UnknownColumns

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which columns of a feed are wanted, and in which form.

    Attributes:
        columns: Which ones, in which order; None: all.
        fill_nulls: By column, what stands for a null.
        dtypes: By column, the type that its numbers are cast to.
        ragged: Columns of lists whose rows vary in length, although those of the first batch do not.
        label: The column to learn, for frameworks whose elements are pairs of features and label.
    """

    columns: Sequence[str] | None = None
    fill_nulls: Mapping[str, object] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    ragged: Collection[str] = ()
    label: str | None = None

    def names(self, schema: pa.Schema) -> tuple[str, ...]:
        """Returns the columns that are wanted of those that there are.

        Raises:
            UnknownColumns: Something is wanted of a column that is not there.
        """
        wanted = tuple(schema.names if self.columns is None else dict.fromkeys(self.columns))
        mentioned = (*wanted, *self.fill_nulls, *self.dtypes, *self.ragged)
        unknown = tuple(dict.fromkeys(name for name in mentioned if name not in schema.names))
        if unknown:
            raise UnknownColumns(unknown, tuple(schema.names))
        return wanted
