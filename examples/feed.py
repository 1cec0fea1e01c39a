"""Trains on the rows of a DataFrame and predicts for each row: ``python examples/feed.py``.

Needs only hopyard[spark]: the model is a line, learnt with numpy.
"""

import hopyard


def train(rate, ctx):
    """Learns y = a·x + b from the rows that this node gets, and saves the line in the project."""
    import json

    slope = offset = 0.0
    for epoch in ctx.feed().epochs():
        for arrays in epoch.as_numpy(256):  # batches of 256 rows, as arrays by column
            x, y = arrays["x"], arrays["y"]
            error = slope * x + offset - y
            slope -= rate * (error * x).mean()
            offset -= rate * error.mean()
        ctx.report(epoch.number, loss=float((error * error).mean()))
    ctx.project.put(f"Models/line/{ctx.rank}.json", json.dumps([slope, offset]).encode())
    return slope, offset


def predict(ctx):
    """Returns one number for each row of each batch."""
    import json

    slope, offset = json.loads(ctx.project.read("Models/line/0.json"))
    feed = ctx.feed()
    for arrays in feed.as_numpy(256):
        feed.batch_results({"prediction": slope * arrays["x"] + offset})


if __name__ == "__main__":
    with hopyard.local_spark(executors=2) as spark:
        frame = spark.range(20_000).selectExpr("rand(1) * 2 - 1 AS x").selectExpr("x", "3 * x + 1 AS y")

        with hopyard.Cluster(train, {"rate": 0.3}, nodes=2, feed=True, name="line") as cluster:
            epochs = cluster.train(frame, epochs=3, shuffle_seed=1)
            lines = cluster.shutdown().values
        for epoch in epochs:
            source = "read again by the nodes" if epoch.is_replayed else f"{epoch.partitions} partitions"
            print(f"epoch {epoch.epoch}: {epoch.rows} rows, {source}")
        print("learnt:", ", ".join(f"y = {slope:.2f} x + {offset:.2f}" for slope, offset in lines))

        with hopyard.Cluster(predict, nodes=2, feed=True, name="predictions") as cluster:
            cluster.inference(frame, schema="prediction double").summary("count", "min", "max").show()
