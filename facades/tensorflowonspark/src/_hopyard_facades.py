"""Refuses to import PyPI's packages where they have overwritten ours: then no code of ours would run that could say so.

``hopyard_facades.pth`` loads this module whenever Python starts, so it holds and imports next to nothing. Where packages
are not installed by pip, nobody loads it, and nothing was overwritten.
"""

import sys


class OverwrittenFacades:
    """Looks at the packages of two names before they are imported; finds nothing itself."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Returns None, after a look at what is there under these names.

        Raises:
            ForeignPackage, DamagedFacade: What is there has overwritten ours.
        """
        if name in ("hops", "tensorflowonspark"):
            try:
                from hopyard.foreign_package import refuse_overwritten
            except ModuleNotFoundError:  # uninstalled, and the facades need it
                return
            refuse_overwritten(name)


sys.meta_path.insert(0, OverwrittenFacades)
