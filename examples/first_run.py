"""Trains on an executor of a local Spark: ``python examples/first_run.py``."""

import hopyard


def train(steps, ctx):
    """Runs in a process of its own next to the executor; import frameworks in here."""
    x = 5.0
    for step in range(1, steps + 1):
        x -= 0.1 * 2 * x  # gradient descent on x²
        ctx.report(step, loss=x * x)
    return x * x


if __name__ == "__main__":
    with hopyard.local_spark(executors=1) as spark:
        result = hopyard.launch(train, {"steps": 50}, spark=spark, name="first run")
    print(f"loss {result.value:.2g}, kept in {result.logdir}")
