"""Trains one model on two executors that average their gradients: ``python examples/multi_worker.py``.

Needs tensorflow and tf_keras; docs/tensorflow.md says how to install them, and why not Keras 3.
"""

import hashlib

import hopyard


def train(points, batch, epochs, ctx):
    """Learns whether a point is inside a circle; the same function runs on every node, and on one alone."""
    import tensorflow as tf
    import tf_keras

    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # reads TF_CONFIG, which is set for each node

    position = tf.random.stateless_uniform([points, 2], seed=(1, 2), minval=-1.0, maxval=1.0)
    inside = tf.cast(tf.norm(position, axis=1) < 0.75, tf.float32)
    # Keras gives each node every other point, and half of each batch.
    data = tf.data.Dataset.from_tensor_slices((position, inside)).batch(batch, drop_remainder=True)

    tf_keras.utils.set_random_seed(1)  # to see the same each time
    with strategy.scope():
        model = tf_keras.Sequential(
            [tf_keras.layers.Dense(16, activation="tanh"), tf_keras.layers.Dense(1, activation="sigmoid")]
        )
        model.compile(tf_keras.optimizers.Adam(0.03), "binary_crossentropy", metrics=["accuracy"])
    report = tf_keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: ctx.report(epoch + 1, **logs))
    history = model.fit(data, epochs=epochs, callbacks=[report], verbose=2)

    model.save(f"{ctx.logdir}/model.keras")  # all nodes have to; each has a logdir of its own
    weights = b"".join(weight.tobytes() for weight in model.get_weights())
    return history.history["accuracy"][-1], hashlib.sha256(weights).hexdigest()


if __name__ == "__main__":
    arguments = {"points": 1024, "batch": 64, "epochs": 12}
    with hopyard.local_spark(executors=2) as spark:
        result = hopyard.launch(train, arguments, nodes=2, spark=spark, name="multi worker")
    accuracy, _ = result.value
    same = len({digest for _, digest in result.values}) == 1
    print(f"accuracy {accuracy:.2f}, weights are {'the same' if same else 'NOT the same'} on both nodes")
    print(f"kept in {result.logdir}")
