"""Computes on two processes of this machine, without Spark: ``python examples/no_spark.py``."""

import hopyard


def share_of_pi(terms, ctx):
    """Sums every size-th term of the Leibniz series, starting at the node's own rank."""
    total = sum((-1) ** k * 4 / (2 * k + 1) for k in range(ctx.rank, terms, ctx.size))
    print(f"node {ctx.rank} of {ctx.size}: {total:.6f}")
    return total


if __name__ == "__main__":
    result = hopyard.launch(share_of_pi, {"terms": 1_000_000}, nodes=2, backend="processes")
    print(f"pi is about {sum(result.values):.5f}; the run is kept in {result.logdir}")
