"""A streaming program as users of TensorFlowOnSpark write it; nothing in it knows of Hopyard."""


def main_fun(args, ctx):
    from tensorflowonspark import TFNode

    tf_feed = TFNode.DataFeed(ctx.mgr)
    while not tf_feed.should_stop():
        batch = tf_feed.next_batch(2)
        if len(batch) > 0:
            with open(f"{args.output}/{ctx.job_name}-{ctx.task_index}.txt", "a") as file:
                file.writelines(f"{row[0]:g}\n" for row in batch)
    with open(f"{args.output}/{ctx.job_name}-{ctx.task_index}.done", "w") as file:
        file.write("done")


if __name__ == "__main__":
    import argparse

    from pyspark.conf import SparkConf
    from pyspark.context import SparkContext
    from pyspark.streaming import StreamingContext

    from tensorflowonspark import TFCluster

    sc = SparkContext(conf=SparkConf().setAppName("stream"))
    ssc = StreamingContext(sc, 1)

    parser = argparse.ArgumentParser()
    parser.add_argument("--cluster_size", help="number of nodes", type=int, default=2)
    parser.add_argument("--input", help="folder where files arrive")
    parser.add_argument("--output", help="folder for what was seen")
    args = parser.parse_args()

    def parse(line):
        return [float(x) for x in line.split(",")]

    stream = ssc.textFileStream(f"file://{args.input}").map(parse)
    cluster = TFCluster.run(
        sc,
        main_fun,
        args,
        args.cluster_size,
        num_ps=0,
        input_mode=TFCluster.InputMode.SPARK,
        master_node="chief",
    )
    cluster.train(stream)
    ssc.start()
    cluster.shutdown(ssc)
    print("the program has ended")
