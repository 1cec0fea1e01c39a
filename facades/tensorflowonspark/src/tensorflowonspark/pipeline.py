"""Raises: estimators and models of Spark ML come with a later release."""

from hopyard.errors import ModuleNotOffered

raise ModuleNotOffered(
    "tensorflowonspark.pipeline",
    "call TFCluster.run() and cluster.train(df.rdd) for TFEstimator.fit(df), and cluster.inference(df.rdd) for "
    "TFModel.transform(df)",
)
