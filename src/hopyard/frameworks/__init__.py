"""What a node does with its framework: TensorFlow or PyTorch. No module here knows more than one of them."""
