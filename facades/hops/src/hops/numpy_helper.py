"""Arrays in files of the project; ``from hops import numpy_helper``.

Paths are understood as in `hops.hdfs`, and files are replaced. Keywords are those of numpy's function of the same name.
"""

from __future__ import annotations

import io
from typing import Any

import numpy

from hops import files


def load(hdfs_filename: str, **kwds: Any) -> Any:
    """Returns what `numpy.load` reads from a file."""
    return numpy.load(_content(hdfs_filename), **kwds)


def loadtxt(hdfs_filename: str, **kwds: Any) -> Any:
    """Returns what `numpy.loadtxt` reads from a file."""
    return numpy.loadtxt(_content(hdfs_filename), **kwds)


def genfromtxt(hdfs_filename: str, **kwds: Any) -> Any:
    """Returns what `numpy.genfromtxt` reads from a file."""
    return numpy.genfromtxt(_content(hdfs_filename), **kwds)


def fromregex(hdfs_filename: str, regexp: Any, dtype: Any, **kwds: Any) -> Any:
    """Returns what `numpy.fromregex` reads from a file."""
    return numpy.fromregex(_content(hdfs_filename), regexp, dtype, **kwds)


def fromfile(hdfs_filename: str, dtype: Any = float, **kwds: Any) -> Any:
    """Returns what `numpy.frombuffer` reads from a file of numbers without a header."""
    return numpy.frombuffer(files.load(hdfs_filename), dtype, **kwds)


def save(hdfs_filename: str, data: Any) -> None:
    """Writes an array; the name gets ``.npy`` at its end if it has not, as numpy does it."""
    content = io.BytesIO()
    numpy.save(content, data)
    files.dump(content.getvalue(), _named(hdfs_filename, ".npy"))


def savez(hdfs_filename: str, *args: Any, **kwds: Any) -> None:
    """Writes several arrays; the name gets ``.npz`` at its end if it has not."""
    content = io.BytesIO()
    numpy.savez(content, *args, **kwds)
    files.dump(content.getvalue(), _named(hdfs_filename, ".npz"))


def savez_compressed(hdfs_filename: str, *args: Any, **kwds: Any) -> None:
    """Writes several arrays in little space; the name gets ``.npz`` at its end if it has not."""
    content = io.BytesIO()
    numpy.savez_compressed(content, *args, **kwds)
    files.dump(content.getvalue(), _named(hdfs_filename, ".npz"))


def _content(hdfs_filename: str) -> io.BytesIO:
    return io.BytesIO(files.load(hdfs_filename))


def _named(hdfs_filename: str, ending: str) -> str:
    return hdfs_filename if hdfs_filename.endswith(ending) else f"{hdfs_filename}{ending}"
