"""TensorFlowOnSpark's names, on Hopyard."""
