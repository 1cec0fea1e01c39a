"""Trains with ``fit`` on a parameter server and two workers: ``python examples/parameter_server_fit.py``.

As parameter_server.py, where Keras schedules the steps. Needs tensorflow and tf_keras; docs/tensorflow.md says how
to install them, and why not Keras 3.
"""

import os

import hopyard


def train(epochs, steps, ctx):
    """Runs on all four nodes: the chief fits the model, the others serve it."""
    os.environ["GRPC_FAIL_FAST"] = "use_caller"  # a node that is still starting is waited for
    import tensorflow as tf

    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()  # TF_CONFIG is set on every node
    if ctx.role != "chief":
        spec = cluster.cluster_spec()
        tf.distribute.Server(spec, job_name=ctx.role, task_index=ctx.task_index, protocol="grpc").join()
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    with tf.distribute.ParameterServerStrategy(cluster).scope():
        model = tf_keras.Sequential(
            [tf_keras.layers.Dense(16, activation="tanh"), tf_keras.layers.Dense(1, activation="sigmoid")]
        )
        model.compile(tf_keras.optimizers.Adam(0.03), "binary_crossentropy", metrics=["accuracy"])
    report = tf_keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: ctx.report(epoch + 1, **logs))
    data = tf_keras.utils.experimental.DatasetCreator(circle)
    history = model.fit(data, epochs=epochs, steps_per_epoch=steps, callbacks=[report], verbose=2)
    model.save(f"{ctx.logdir}/model.keras")
    return int(model.optimizer.iterations), history.history["accuracy"][-1]


def circle(_):
    """Returns batches of points, and whether each is inside a circle; every worker makes its own."""
    import tensorflow as tf

    points = tf.random.stateless_uniform([1024, 2], seed=(1, 2), minval=-1.0, maxval=1.0)
    inside = tf.cast(tf.norm(points, axis=1) < 0.75, tf.float32)
    return tf.data.Dataset.from_tensor_slices((points, inside)).shuffle(1024).repeat().batch(32)


if __name__ == "__main__":
    with hopyard.local_spark(executors=2, cores=2) as spark:
        arguments = {"epochs": 10, "steps": 40}
        result = hopyard.launch(train, arguments, nodes=4, ps=1, spark=spark, name="parameter server fit")
    steps, accuracy = result.value
    print(f"{steps} steps, accuracy {accuracy:.2f}")
    print(f"kept in {result.logdir}")
