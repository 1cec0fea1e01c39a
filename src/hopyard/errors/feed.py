"""Errors of feeding: jobs, epochs, batches, columns, streams."""

from __future__ import annotations

from hopyard.errors.base import HopyardError
from hopyard.errors.run import StillRunning


class NotFed(HopyardError, RuntimeError):
    """A feed was asked for where there is none."""

    wanted: str
    reason: str
    text = "{wanted} is not possible: {reason}."


class RowsRefused(HopyardError, ValueError):
    """Rows came that a node, or a task that gets results, does not take; they were not looked into."""

    reason: str
    text = "rows were refused: {reason}."


class FeedJobFailed(HopyardError, RuntimeError):
    """The Spark job that computes the rows failed."""

    cause: str
    text = "Spark could not compute the rows to feed: {cause}"


class FeedStalled(HopyardError, TimeoutError):
    """Rows wait to be consumed, and no node consumes any."""

    seconds: float
    nodes: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"no node has read a row for {self.seconds:g} s, although rows wait: {'; '.join(self.nodes)}. "
            "See what the nodes do (hopyard logs), or raise feed_timeout."
        )


class FeedMiscounted(HopyardError, RuntimeError):
    """The rows that nodes have received are not those that were sent."""

    epoch: int
    partitions: tuple[str, ...]

    def __str__(self) -> str:
        shown = "; ".join(self.partitions[:5]) + ("; ..." if len(self.partitions) > 5 else "")
        return f"epoch {self.epoch}: rows sent and received differ in {len(self.partitions)} partitions ({shown})."


class FeedNotRead(HopyardError, RuntimeError):
    """A function returned before it had read what it was fed.

    What to do is apart, for facades: their users know other names.
    """

    consumed: int
    left: str
    remedy = (
        "Read the rows of all epochs (for epoch in feed.epochs(): for batch in epoch.as_numpy(32): ...), or call "
        "feed.terminate() if it is meant to end early. "
        "With Keras's fit(steps_per_epoch=...), give it dataset.repeat()."
    )

    def __str__(self) -> str:
        return f"the function returned after {self.consumed} rows of its feed and left {self.left} unread. {self.remedy}"


class EpochLeft(HopyardError, RuntimeError):
    """A loop was left so far within an epoch that another one cannot begin the epoch again."""

    epoch: int
    rows: int
    limit: int
    text = (
        "a loop was left after {rows} rows of epoch {epoch}, and only the first {limit} MB of an epoch can be read again. "
        "Read each epoch in one loop; or use feed.epochs(), which passes over what a loop leaves."
    )


class NoMoreEpochs(HopyardError, RuntimeError):
    """A function asks for more epochs than were fed."""

    fed: int

    def __str__(self) -> str:
        return (
            f"the function asked for epoch {self.fed + 1}, but the feed has only {self.fed}. "
            f"Feed more (cluster.train(..., epochs={self.fed + 1})), or read as many as come: "
            "for epoch in feed.epochs()."
        )


class NothingFed(HopyardError, RuntimeError):
    """Rows were to tell what all rows look like, and there are none."""

    asked_by: str
    text = (
        "the feed ended without a row for this node, so {asked_by} does not know which columns there are. "
        "Feed at least one row for each node (df.repartition), or use next_batch()."
    )


class EmptyEpoch(HopyardError, RuntimeError):
    """An epoch had no row for a node, where a framework would take that for a result."""

    asked_by: str
    epoch: int
    text = (
        "epoch {epoch} had no row for this node, and {asked_by} gives no dataset without rows. "
        "Feed more rows or partitions (df.repartition), or use fewer nodes."
    )


class NotInStep(HopyardError, LookupError):
    """A node that is none of those that train in step asked for a batch."""

    rank: int
    ranks: tuple[int, ...]

    def __str__(self) -> str:
        return f"node {self.rank} does not train in step; those that do: {', '.join(map(str, self.ranks))}."


class NothingToRepeat(HopyardError, RuntimeError):
    """Nodes got no row at all, and were to repeat some of theirs to keep step with the others."""

    ranks: tuple[int, ...]

    def __str__(self) -> str:
        nodes = ("node " if len(self.ranks) == 1 else "nodes ") + ", ".join(map(str, self.ranks))
        return (
            f"no row was fed to {nodes}, so there is nothing to repeat while the others finish theirs "
            "(uneven='pad'). Feed more rows, spread them over more partitions (df.repartition), or use fewer nodes."
        )


class ColumnsDoNotFit(HopyardError, ValueError):
    """A Keras model would take columns by their order, since their names are not those of its inputs."""

    columns: tuple[str, ...]
    inputs: tuple[str, ...]

    def __str__(self) -> str:
        wanted = ", ".join(map(repr, self.inputs))
        return (
            f"the feed gives the columns {', '.join(self.columns)}, and the model has the inputs {', '.join(self.inputs)}: Keras "
            f"would take columns by their order. Give as_tf_dataset(..., columns=[{wanted}])."
        )


class NoWholeBatch(HopyardError, RuntimeError):
    """Nodes got less than a batch, so that no node can take one in step with the others."""

    ranks: tuple[int, ...]
    rows: tuple[int, ...]

    def __str__(self) -> str:
        who = ", ".join(
            f"node {rank} got {rows} rows" for rank, rows in zip(self.ranks, self.rows, strict=True)
        )
        return (
            f"{who}: less than one batch, so that no node can take a batch in step with the others (uneven=). "
            "Use smaller batches, spread the rows over more partitions (df.repartition), or use fewer nodes."
        )


class ResultsMissing(HopyardError, RuntimeError):
    """A function goes on, or returns, without results for rows that it has read."""

    action: str
    rows: int
    text = (
        "the function {action}, but {rows} rows have no results yet. "
        "Call feed.batch_results(...) once for each batch: with Keras, for batch in dataset: "
        "feed.batch_results(model.predict_on_batch(batch))."
    )


class WrongResults(HopyardError, ValueError):
    """A batch got more or fewer results than it has rows."""

    batch: str
    rows: int
    results: int

    def __str__(self) -> str:
        if not self.rows:
            return f"{self.batch} waits for results, but {self.results} came; call batch_results once for each batch."
        return f"{self.batch} has {self.rows} rows but got {self.results} results; give one for each row."


class ResultsNotWanted(HopyardError, ValueError):
    """Results came for rows that were fed to learn from."""

    results: int
    text = (
        "batch_results() got {results} results, but train() feeds rows to learn from and wants none; to get results, have the "
        "driver program call inference(df, schema) instead of train()."
    )


class RowsDiffer(HopyardError, ValueError):
    """Rows came that are not like the first ones."""

    column: str
    expected: str
    found: str
    remedy: str
    text = "column {column!r} began with {expected}, but later rows have {found}; {remedy}."


class UnknownColumns(HopyardError, KeyError):
    """Columns were named that the rows do not have."""

    names: tuple[str, ...]
    available: tuple[str, ...]

    def __str__(self) -> str:
        return f"there is no column {', '.join(self.names)}; choose from {', '.join(self.available)}."


class DuplicateColumns(HopyardError, ValueError):
    """Several columns have the same name, so that a name does not tell which one is meant."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"several columns are called {', '.join(self.names)}; rename or drop some (df.toDF, df.drop)."


class NullValues(HopyardError, ValueError):
    """A column has nulls, and its array has no room for them."""

    column: str
    count: int
    kind: str
    example: str
    text = (
        "column {column!r} has {count} null(s) of type {kind} in one batch, and an array cannot hold "
        "them. Say what stands for a null (fill_nulls={{{column!r}: {example}}}), or have Spark fill or "
        "drop them before (df.fillna, df.na.drop)."
    )


class FillDoesNotFit(HopyardError, ValueError):
    """What shall stand for the nulls of a column is no value of that column."""

    column: str
    fill: str
    kind: str
    reason: str
    text = "{fill} cannot stand for the nulls of column {column!r} ({kind}): {reason}."


class InvalidVectors(HopyardError, ValueError):
    """The vectors of a column do not make a matrix."""

    column: str
    reason: str
    text = "the vectors of column {column!r} do not make a matrix: {reason}."


class StreamFailed(HopyardError, RuntimeError):
    """A stream that fed a run could not be read any further."""

    cause: str
    text = "reading the stream failed: {cause}"


class StillStreaming(StillRunning):
    """A stream that was to end, or to be waited for, goes on; so does the run."""

    batches: int
    text = (
        "a stream still feeds run {run_id} after {seconds:g} s, {batches} batches so far; raise "
        "timeout, or call stop() on the cluster, which also ends the current batch."
    )


class StreamClosed(HopyardError, RuntimeError):
    """Never reaches a caller: a micro-batch came when the nodes were to get no more.

    It ends a query of Structured Streaming, and then stands in Spark's error; a DStream goes on without it.
    """

    batch: int
    text = "micro-batch {batch} was only fed in part: the stream was stopped, or no node takes rows."


class NodesReplaced(HopyardError, RuntimeError):
    """Never leaves the library: nodes that were being fed have been started again, and know nothing of earlier rows.

    What they have not read is fed again.
    """

    attempt: int
    text = "the nodes were started again, attempt {attempt}."


class Superseded(HopyardError, RuntimeError):
    """Never reaches a caller: a Spark task feeds a partition that a later attempt of the same task has taken over.

    It ends the earlier attempt, and stands in Spark's log.
    """

    partition: int
    attempt: int
    text = "a later attempt replaced attempt {attempt} to feed partition {partition}."


class WrongEpochState(HopyardError, RuntimeError):
    """Something was asked of a kept epoch that it cannot do now.

    A training function meets it only where it goes on with rows for validation that others have replaced meanwhile.
    """

    state: str
    asked: str
    text = "the epoch that is kept on this host is {state} and cannot {asked}."
