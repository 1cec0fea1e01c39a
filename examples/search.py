"""A search: forty trials of a small training, two at a time; bad ones are stopped early.

python examples/search.py
"""

from __future__ import annotations

import hopyard


def train(learning_rate: float, momentum: float, ctx: hopyard.NodeContext) -> float:
    """Gradient descent with momentum on a long, narrow valley; returns how high it ends."""
    report = hopyard.Reporter(ctx)
    x, y, vx, vy = 3.0, 1.0, 0.0, 0.0
    for step in range(1, 31):
        vx, vy = momentum * vx - learning_rate * x, momentum * vy - learning_rate * 25 * y
        x, y = x + vx, y + vy
        report(step, loss=min(0.5 * (x * x + 25 * y * y), 1e6))
    return min(0.5 * (x * x + 25 * y * y), 1e6)


def main() -> None:
    with hopyard.local_spark(executors=2) as spark:
        study = hopyard.search(
            train,
            {"learning_rate": hopyard.Range(1e-3, 0.1, log=True), "momentum": hopyard.Range(0.0, 0.95)},
            trials=40,
            metric="loss",
            direction="min",
            pruner="median",
            seed=1,
            spark=spark,
        )
    stopped = sum(trial.state.value == "PRUNED" for trial in study.trials)
    print(f"loss {study.best_value:.2g} with {dict(study.best_params)}; {stopped} trials were stopped early")
    print(f"kept in {study.logdir}")


if __name__ == "__main__":
    main()
