"""A program as users of TensorFlowOnSpark write it; nothing in it knows of Hopyard."""


def main_fun(args, ctx):
    import json
    import logging

    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    logging.info("%s:%d of %d", ctx.job_name, ctx.task_index, ctx.num_workers)
    with strategy.scope():
        weight = tf.Variable(0.0)
    x = tf.range(1.0, 9.0)[ctx.worker_num :: ctx.num_workers]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weight * x - args.slope * x) ** 2)
        (gradient,) = tape.gradient(loss, [weight])
        total = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, gradient)
        weight.assign_sub(0.02 * total)

    for _ in range(args.steps):
        strategy.run(step)
    tf.io.gfile.makedirs(args.model_dir)
    with tf.io.gfile.GFile(f"{args.model_dir}/{ctx.job_name}-{ctx.task_index}.json", "w") as file:
        file.write(json.dumps(float(weight.numpy())))


if __name__ == "__main__":
    import argparse

    from pyspark.conf import SparkConf
    from pyspark.context import SparkContext

    from tensorflowonspark import TFCluster

    sc = SparkContext(conf=SparkConf().setAppName("line"))
    executors = sc._conf.get("spark.executor.instances")
    num_executors = int(executors) if executors is not None else 1

    parser = argparse.ArgumentParser()
    parser.add_argument("--cluster_size", help="number of nodes", type=int, default=num_executors)
    parser.add_argument("--model_dir", help="folder for weights", default="line_model")
    parser.add_argument("--slope", help="slope of the line", type=float, default=3.0)
    parser.add_argument("--steps", help="number of steps", type=int, default=40)
    parser.add_argument("--tensorboard", help="launch tensorboard process", action="store_true")
    args = parser.parse_args()

    cluster = TFCluster.run(
        sc,
        main_fun,
        args,
        args.cluster_size,
        num_ps=0,
        tensorboard=args.tensorboard,
        input_mode=TFCluster.InputMode.TENSORFLOW,
        log_dir=args.model_dir,
        master_node="chief",
    )
    cluster.shutdown(grace_secs=30)
