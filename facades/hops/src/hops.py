"""What is imported instead of the package ``hops`` when its ``__init__.py`` is gone: says how to put it right.

Python takes a package before a module of the same name, and this module before a folder without ``__init__.py``.
That is what remains of the package when PyPI's ``hops``, which has most of the same files, is uninstalled.
"""

from hopyard.foreign_package import damaged

raise damaged("hops")
