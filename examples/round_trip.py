"""Trains a model, keeps it, and predicts with it in a later program: needs hopyard[spark,tensorflow].

python examples/round_trip.py train             # today
python examples/round_trip.py predict houses    # any other day: the name or the id of the run
"""

import sys

import hopyard


def train(ctx):
    """Fits a model to the rows that this node is fed, and saves it where it is kept with the run."""
    import keras

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.2), "mse")
    feed = ctx.feed()
    history = model.fit(
        feed.as_tf_dataset(50, label="price"),
        validation_data=ctx.feed("validation").as_tf_dataset(50, label="price"),
        epochs=4,
        verbose=2,
    ).history
    model.save(f"{ctx.logdir}/model.keras")
    return {"loss": history["loss"][-1], "val_loss": history["val_loss"][-1]}


def predict(path, ctx):
    """Loads the model of the earlier run and answers each batch of rows."""
    import keras

    model = keras.saving.load_model(ctx.fetch(path))
    feed = ctx.feed()
    for arrays in feed.as_numpy(500, columns=["size"]):
        feed.batch_results({"predicted": model.predict_on_batch(arrays["size"])[:, 0]})


def houses(spark, rows):
    """Returns a table of your own: here, made-up houses."""
    sizes = spark.range(rows).selectExpr("concat('house-', id) AS id", "rand(1) AS area", "rand(2) AS rooms")
    return sizes.selectExpr("id", "array(area, rooms) AS size", "3 * area + 2 * rooms + 1 AS price")


def run_training(spark, rows=4000):
    with hopyard.Cluster(train, feed=True, name="houses") as cluster:
        cluster.train(houses(spark, rows).select("size", "price"), epochs=4, validation=0.2, shuffle_seed=1)
        return cluster.shutdown()


def run_prediction(spark, name, folder, rows=4000):
    run = hopyard.load_run(name)
    print(f"{run.run_id} returned {run.value} and has the files {', '.join(run.files())}")
    with hopyard.Cluster(predict, (run.path("model.keras"),), feed=True, name="predictions") as cluster:
        predicted = cluster.inference(houses(spark, rows), "predicted float", keep=["id", "price"])
        predicted.write.mode("overwrite").parquet(folder)


if __name__ == "__main__":
    with hopyard.local_spark() as spark:
        if sys.argv[1:] == ["train"]:
            result = run_training(spark)
            print(f"kept as {result.run_id}, model at {result.path('model.keras')}")
        elif len(sys.argv) == 3:
            run_prediction(spark, sys.argv[2], "predicted.parquet")
            spark.read.parquet("predicted.parquet").show(5)
        else:
            print(__doc__)
