"""Memory of two nodes through which 10 GB are fed, each of them limited to 1 GB by the kernel."""

from __future__ import annotations

import sys
import tempfile
import time

from benchmarks.report import Table

import hopyard

NODES = 2
LIMIT_BYTES = 1 << 30
ROW_BYTES = 1 << 20
ROWS = 10 * 1024


def drain(ctx: hopyard.NodeContext) -> tuple[int, int, int]:
    """Reads all rows under a limit of memory; returns rows, bytes, and the most memory that the process had."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
    rows = size = 0
    for batch in ctx.feed():
        rows += len(batch)
        size += batch.nbytes
    return rows, size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run() -> Table:
    """Measures a feed of 10 GB, and of a tenth of it for comparison."""
    return measure(ROWS)


def measure(rows: int) -> Table:
    """Measures feeds of a tenth of some rows, and of all of them."""
    lines = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as root,
        hopyard.local_spark(executors=NODES, memory="2g") as spark,
    ):
        project = hopyard.Project.open(root=root)
        for number in (rows // 10, rows):
            frame = spark.range(0, number, 1, 8).selectExpr(
                "id", f"CAST(repeat('x', {ROW_BYTES}) AS BINARY) AS payload"
            )
            began = time.monotonic()
            with hopyard.Cluster(drain, nodes=NODES, feed=True, progress=False, project=project) as cluster:
                cluster.train(frame)
                values = cluster.shutdown().values
            seconds = time.monotonic() - began
            size = sum(node[1] for node in values)
            most = ", ".join(f"{node[2] / (1 << 20):.0f}" for node in values)
            lines.append(
                (f"{size / (1 << 30):.1f}", most, f"{seconds:.0f}", f"{size / seconds / (1 << 20):.0f}")
            )
    return Table(
        title="Memory of nodes that are fed",
        columns=("GB in all", "most resident memory of each node, MB", "s", "MB/s"),
        rows=tuple(lines),
        notes=f"Rows of {ROW_BYTES >> 20} MB that Spark makes up, into {NODES} nodes whose data the kernel limits to "
        f"{LIMIT_BYTES >> 30} GB (RLIMIT_DATA): a node that asked for more would fail.",
    )


if __name__ == "__main__":
    print(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS).render())
