"""TensorFlowOnSpark as it came with the Hops library; ``from hops.tensorflowonspark import TFCluster, TFNode``."""

import sys as _sys

from tensorflowonspark import TFManager, TFNode, TFSparkNode, gpu_info, marker, reservation, util

__all__ = ["TFManager", "TFNode", "TFSparkNode", "gpu_info", "marker", "reservation", "util"]

# The same modules, not copies of them, so that ``from hops.tensorflowonspark.TFNode import DataFeed`` works, too.
for _module in (TFManager, TFNode, TFSparkNode, gpu_info, marker, reservation, util):
    _sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module
