"""Trains asynchronously on a parameter server and two workers: ``python examples/parameter_server.py``.

The variables live on the parameter server. The workers compute their gradients, each at its own pace, and the chief
tells them which steps to do. Needs tensorflow and tf_keras; docs/tensorflow.md says how to install them.
"""

import os

import hopyard


def train(epochs, steps, ctx):
    """Runs on all four nodes: the chief coordinates, the others serve it."""
    os.environ["GRPC_FAIL_FAST"] = "use_caller"  # a node that is still starting is waited for
    import tensorflow as tf

    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()  # TF_CONFIG is set on every node
    if ctx.role != "chief":
        server = tf.distribute.Server(
            cluster.cluster_spec(), job_name=ctx.role, task_index=ctx.task_index, protocol="grpc"
        )
        server.join()  # for good: Hopyard ends the node when the chief has returned
    return coordinate(cluster, epochs, steps, ctx)


def coordinate(cluster, epochs, steps, ctx):
    """Runs on the chief: schedules the steps of each epoch, returns the losses and where the variables are."""
    import tensorflow as tf
    import tf_keras

    strategy = tf.distribute.ParameterServerStrategy(cluster)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,))])
        optimizer = tf_keras.optimizers.SGD(0.05)
        optimizer.build(model.trainable_variables)

    @tf.function
    def step(batches):
        return strategy.run(improve, args=(model, optimizer, *next(batches)))

    batches = iter(coordinator.create_per_worker_dataset(plane))
    losses = []
    for epoch in range(1, epochs + 1):
        begun = [coordinator.schedule(step, args=(batches,)) for _ in range(steps)]
        coordinator.join()  # raises what went wrong in a step
        losses.append(sum(float(loss.fetch()) for loss in begun) / steps)
        ctx.report(epoch, loss=losses[-1])

    model.save(f"{ctx.logdir}/model.keras")
    return int(optimizer.iterations), losses, model.trainable_variables[0].device


def plane():
    """Returns batches of points and their heights; every worker makes its own."""
    import tensorflow as tf

    points = tf.random.stateless_normal([256, 3], seed=(1, 2))
    heights = points @ tf.constant([[1.0], [-2.0], [3.0]]) + 0.5
    return tf.data.Dataset.from_tensor_slices((points, heights)).shuffle(256).repeat().batch(16)


def improve(model, optimizer, points, heights):
    """Runs on a worker: makes one step of gradient descent and returns the loss before it."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(points, training=True) - heights) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    tf.print("loss", loss)  # into the log of the worker that made this step
    return loss


if __name__ == "__main__":
    with hopyard.local_spark(executors=2, cores=2) as spark:
        arguments = {"epochs": 4, "steps": 50}
        result = hopyard.launch(train, arguments, nodes=4, ps=1, spark=spark, name="parameter server")
    steps, losses, device = result.value
    print(f"{steps} steps, loss {losses[0]:.2g} in the first epoch and {losses[-1]:.2g} in the last")
    print(f"variables on {device}")
    print(f"kept in {result.logdir}")
