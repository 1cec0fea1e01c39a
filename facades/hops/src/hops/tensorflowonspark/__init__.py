"""TensorFlowOnSpark as it came with the Hops library; ``from hops.tensorflowonspark import TFCluster, TFNode``."""

from tensorflowonspark import TFNode, TFSparkNode, gpu_info, util

__all__ = ["TFNode", "TFSparkNode", "gpu_info", "util"]
