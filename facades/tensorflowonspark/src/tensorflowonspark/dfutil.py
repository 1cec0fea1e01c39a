"""Raises: TFRecords as DataFrames come with a later release."""

from hopyard.errors import ModuleNotOffered

raise ModuleNotOffered(
    "tensorflowonspark.dfutil",
    "feed the DataFrame itself with cluster.train(df), or read TFRecords in the training function with "
    "tf.data.TFRecordDataset",
)
