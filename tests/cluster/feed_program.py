"""A program as users of TensorFlowOnSpark write it, which is fed by Spark; nothing in it knows of Hopyard."""


def main_fun(args, ctx):
    import json

    import numpy as np
    import tensorflow as tf

    from tensorflowonspark import TFNode

    model = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1, use_bias=False)])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.02), loss="mse")

    if args.mode == "inference":
        model.load_weights(f"{args.model_dir}/chief-0.weights.h5")
        tf_feed = TFNode.DataFeed(ctx.mgr, False)
        while not tf_feed.should_stop():
            batch = tf_feed.next_batch(args.batch_size)
            if len(batch) > 0:
                found = model.predict_on_batch(np.array(batch, np.float32))
                tf_feed.batch_results([float(y) for y in found[:, 0]])
        return

    tf_feed = TFNode.DataFeed(ctx.mgr)

    def rdd_generator():
        while not tf_feed.should_stop():
            batch = tf_feed.next_batch(1)
            if len(batch) == 0:
                return
            yield np.array([batch[0][0]], np.float32), np.array([batch[0][1]], np.float32)

    shapes = (tf.TensorSpec([1], tf.float32), tf.TensorSpec([1], tf.float32))
    ds = tf.data.Dataset.from_generator(rdd_generator, output_signature=shapes).batch(args.batch_size)
    model.fit(ds, steps_per_epoch=args.steps, epochs=2, verbose=0)
    tf_feed.terminate()

    tf.io.gfile.makedirs(args.model_dir)
    model.save_weights(f"{args.model_dir}/{ctx.job_name}-{ctx.task_index}.weights.h5")
    with tf.io.gfile.GFile(f"{args.model_dir}/{ctx.job_name}-{ctx.task_index}.json", "w") as file:
        file.write(json.dumps(float(model.get_weights()[0][0, 0])))


if __name__ == "__main__":
    import argparse

    from pyspark.conf import SparkConf
    from pyspark.context import SparkContext

    from tensorflowonspark import TFCluster

    sc = SparkContext(conf=SparkConf().setAppName("feed"))

    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", help="rows of a batch", type=int, default=8)
    parser.add_argument("--cluster_size", help="number of nodes", type=int, default=2)
    parser.add_argument("--epochs", help="number of epochs", type=int, default=10)
    parser.add_argument("--mode", help="train|inference", default="train")
    parser.add_argument("--model_dir", help="folder for weights", default="feed_model")
    parser.add_argument("--output", help="folder for results", default="predictions")
    parser.add_argument("--steps", help="number of steps", type=int, default=60)
    args = parser.parse_args()

    if args.mode == "train":
        rows = sc.parallelize([(x / 100, 3 * x / 100) for x in range(-400, 400)], 4)
    else:
        rows = sc.parallelize([[float(x)] for x in range(100)], 4)
    print("rows:", rows.count())

    cluster = TFCluster.run(
        sc,
        main_fun,
        args,
        args.cluster_size,
        num_ps=0,
        tensorboard=False,
        input_mode=TFCluster.InputMode.SPARK,
        log_dir=args.model_dir,
        master_node="chief",
    )
    if args.mode == "train":
        cluster.train(rows, args.epochs)
    else:
        cluster.inference(rows).saveAsTextFile(args.output)
    cluster.shutdown(grace_secs=30)
