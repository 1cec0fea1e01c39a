"""Mistakes of users that need no Spark: each is answered within a second, by one short text with the remedy."""

from __future__ import annotations

import importlib
import math
import re
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hopyard
from hopyard import Choice, Cluster, NodeContext, Project, Range, Reporter, launch
from hopyard.cli.main import build_app
from hopyard.errors import (
    AlreadyStarted,
    BadArguments,
    BadReport,
    InvalidDevices,
    InvalidName,
    InvalidPlan,
    InvalidPorts,
    InvalidSearch,
    InvalidSessionSetting,
    InvalidSetting,
    InvalidSpace,
    JavaNotFound,
    NoActiveSpark,
    NodeFailed,
    NotFed,
    NotInsideRun,
    NotPicklable,
    NotStarted,
    PathNotFound,
    RootUnusable,
    RunFileNotFound,
    StoreUnreachable,
    StudyExists,
    StudyNotFound,
    UnknownBackend,
    UnsupportedStore,
)
from hopyard.spark.session import local_spark
from hopyard.testing.mistakes import Mistake, check_mistake

pytestmark = pytest.mark.unit

SECONDS = 1.0
SERVER_SECONDS = 10.0
LOCK = threading.Lock()
SPACE = {"lr": [0.1, 0.2]}
USAGE_ERROR = 2


def train(lr: float = 0.1, batch: int = 32) -> float:
    return lr * batch


def fed(ctx: NodeContext) -> None:
    ctx.feed()


def locks() -> None:
    with LOCK:
        pass


def run(*args: Any, fn: Any = train, **options: Any) -> Any:
    return launch(fn, *args, **{"backend": "processes", "progress": False, **options})


def inside(step: Callable[[NodeContext], Any]) -> Any:
    """Does something in the function that a node runs."""
    return launch(partial(called, step), backend="inline", progress=False)


def called(step: Callable[[NodeContext], Any], ctx: NodeContext) -> None:
    step(ctx)


def search(fn: Any = train, space: Any = SPACE, **options: Any) -> Any:
    usual = {"trials": 1, "parallel": 1, "backend": "processes", "progress": False}
    return hopyard.search(fn, space, **{**usual, **options})


def grid(space: Any) -> Any:
    return hopyard.grid_search(train, space, backend="processes", progress=False)


def cluster(**options: Any) -> Cluster:
    return Cluster(**{"fn": train, "backend": "inline", "progress": False, **options})


def start_twice() -> None:
    with cluster() as started:
        started.start()


def save(ctx: NodeContext) -> None:
    Path(ctx.logdir, "model.bin").write_bytes(b"weights")


def saved() -> str:
    return launch(save, backend="inline").run_id


def train_without_feed() -> None:
    with cluster() as started:
        started.train([1, 2])


def mistakes(
    error: type[BaseException], *rows: tuple[str, Callable[[], Any], tuple[str, ...]]
) -> list[Mistake]:
    return [Mistake(name=name, do=do, error=error, says=says) for name, do, says in rows]


WHOLE = "give a whole number of at least 1"
LAUNCH = [
    *mistakes(
        InvalidPlan,
        ("no nodes", lambda: run(nodes=0), ("nodes=0", WHOLE)),
        ("fewer than no nodes", lambda: run(nodes=-1), ("nodes=-1", WHOLE)),
        ("nodes as text", lambda: run(nodes="2"), ("nodes='2'", WHOLE)),
        ("a switch for nodes", lambda: run(nodes=True), ("nodes=True", WHOLE)),
        ("half a node", lambda: run(nodes=2.5), ("nodes=2.5", WHOLE)),
        ("only parameter servers", lambda: run(nodes=2, ps=2), ("nodes=2, ps=2", "raise nodes")),
        ("a negative timeout", lambda: run(timeout=-1), ("timeout=-1", "give a number of seconds")),
        ("a lease that is no number", lambda: run(lease_seconds=math.nan), ("nan", "at least 1")),
        ("restarts as text", lambda: run(max_restarts="2"), ("max_restarts='2'", "at least 0")),
        (
            "the project's name for it",
            lambda: run(project="mnist"),
            ("project='mnist'", "Project.open(name="),
        ),
        ("a number for a name", lambda: run(name=3), ("name=3", "give a text")),
        ("no name", lambda: run(name=""), ("name=''", "give a text of 1 to 100")),
        ("a name of nothing", lambda: run(name=" "), ("name=' '", "give a text of 1 to 100")),
        ("a name of two lines", lambda: run(name="a\nb"), (r"name='a\nb'", "on one line")),
        ("a name in red", lambda: cluster(name="\x1b[31m"), (r"name='\x1b[31m'", "on one line")),
        ("a name for the newest", lambda: cluster(name="last"), ("name='last'", "other than 'last'")),
        ("a name too long", lambda: run(name="x" * 101), ("name='xxx", "1 to 100 characters")),
        ("a master for spark", lambda: run(spark="local[2]"), ("spark='local[2]'", "local_spark()")),
        ("yes for a switch", lambda: run(progress="yes"), ("progress='yes'", "True, False or None")),
        ("tls that is no switch", lambda: run(tls="on"), ("tls='on'", "True, False or None")),
        ("a tensorboard nowhere", lambda: run(tensorboard="node"), ("tensorboard='node'", "'chief'")),
    ),
    *mistakes(
        BadArguments,
        ("a slip in an option", lambda: run(max_restart=2), ("'max_restart'", "use 'max_restarts'")),
        ("an option that there is not", lambda: run(zzz=2), ("'zzz'", "help(hopyard.launch)")),
        ("an argument too many", lambda: run({"rate": 1}), ("'rate'", "its signature is (lr")),
        ("arguments that are one number", lambda: run(5), ("args=5", "give a dict")),
        ("the function's result for it", lambda: run(fn=train()), ("fn=3.2", "without calling it")),
        ("the function's name for it", lambda: run(fn="train"), ("fn='train'", "give the function itself")),
        ("a fed function without ctx", lambda: cluster(feed=True), ("train()", "parameter named ctx")),
    ),
    *mistakes(
        NotPicklable,
        ("a lock in the function", lambda: run(fn=locks), ("'LOCK'", "Create it inside the function")),
    ),
    *mistakes(
        UnknownBackend, ("a slip in the backend", lambda: run(backend="sparkk"), ("'sparkk'", "'spark'"))
    ),
    *mistakes(
        InvalidDevices,
        ("fewer than no GPUs", lambda: run(gpus_per_node=-1), ("gpus_per_node=-1", "at least 0")),
        ("two GPUs as a fraction", lambda: run(gpu_fraction=2), ("gpu_fraction=2", "at most 1")),
    ),
    *mistakes(InvalidPorts, ("a port too high", lambda: run(ports=[70000]), ("[70000]", "give a port"))),
    *mistakes(
        NoActiveSpark, ("no Spark", lambda: launch(train), ("no SparkSession", "hopyard.local_spark()"))
    ),
    *mistakes(NotStarted, ("a wait before the start", lambda: cluster().wait(), ("'train'", "call start()"))),
    *mistakes(AlreadyStarted, ("a second start", start_twice, ("'train'", "make a new Cluster"))),
    *mistakes(NotFed, ("train() without a feed", train_without_feed, ("train()", "Cluster(fn, feed=True)"))),
    *mistakes(
        InvalidName, ("a slash in the kind", lambda: run(kind="a/b"), ("'a/b'", "cannot contain a slash"))
    ),
]
INSIDE = [
    *mistakes(
        NodeFailed,
        ("ctx.feed() without a feed", lambda: inside(NodeContext.feed), ("NotFed", "Cluster(fn, feed=True)")),
        ("a step in words", lambda: inside(lambda ctx: ctx.report("one", loss=1)), ("'one'", "whole number")),  # type: ignore[arg-type]
        ("no step", lambda: inside(lambda ctx: ctx.report(None, loss=1)), ("None", "whole number")),  # type: ignore[arg-type]
        (
            "a metric without a name",
            lambda: inside(lambda ctx: ctx.report(1, **{"": 2.0})),
            ("name of a metric",),
        ),
        ("no metric", lambda: inside(lambda ctx: ctx.report(1)), ("empty", "report(3, loss=0.5)")),
        ("text for a metric", lambda: inside(lambda ctx: ctx.report(1, loss="0.5")), ("'0.5'", "one number")),  # type: ignore[arg-type]
        ("a list for a metric", lambda: inside(lambda ctx: ctx.report(1, loss=[1])), ("[1]", "one number")),  # type: ignore[list-item]
        (
            "a path out of the project",
            lambda: inside(lambda ctx: ctx.path("../x")),
            ("'../x'", "no path leaves"),
        ),
        ("a report of no steps", lambda: inside(lambda ctx: Reporter(ctx, every=0)), ("every=0", WHOLE)),
        ("steps as text", lambda: inside(lambda ctx: Reporter(ctx, every="2")), ("every='2'", WHOLE)),  # type: ignore[arg-type]
    ),
    *mistakes(
        BadArguments,
        ("a number for a context", lambda: Reporter(3), ("ctx=3", "Reporter(ctx)")),  # type: ignore[arg-type]
    ),
    *mistakes(
        BadReport, ("metrics that are none", lambda: Reporter(Deaf())(1.5, loss=1), ("1.5", "whole number"))
    ),  # type: ignore[arg-type]
    *mistakes(NotInsideRun, ("a reporter on the driver", Reporter, ("context", "inside the function"))),
]


class Deaf:
    """A context that is never asked."""

    def report(self, step: int, **metrics: float) -> None:
        """Hears nothing."""

    def should_stop(self) -> bool:
        """Says nothing."""
        return False


SEARCH = [
    *mistakes(
        InvalidSearch,
        ("a search without an end", lambda: search(trials=None), ("never end", "trials= (how many)")),
        ("no name", lambda: search(name=""), ("name=''", "Give a text of 1 to 100")),
        ("a name for the newest", lambda: search(name="last"), ("name='last'", "other than 'last'")),
        ("no trials", lambda: search(trials=0), ("trials=0", "at least 1")),
        ("fewer than no trials", lambda: search(trials=-1), ("trials=-1", "at least 1")),
        ("trials as text", lambda: search(trials="3"), ("trials='3'", "Give a whole number")),
        ("a slip in the sampler", lambda: search(sampler="tpee"), ("'tpee'", "Did you mean 'tpe'?")),
        ("a slip in the pruner", lambda: search(pruner="ashaa"), ("'ashaa'", "Did you mean 'asha'?")),
        (
            "a pruner of two metrics",
            lambda: search(pruner="asha", metric=["a", "b"]),
            ("'asha'", "one metric"),
        ),
        ("an unknown direction", lambda: search(direction="up"), ("direction='up'", "'max' or 'min'")),
        ("a loss without direction", lambda: search(metric="val_loss"), ("'val_loss'", "direction='min'")),
        ("a number for the metric", lambda: search(metric=5), ("metric=5", "Give a name")),
        (
            "a direction too few",
            lambda: search(metric=["a", "b"], direction=["max"]),
            ("2", "for each metric"),
        ),
        ("a list for the space", lambda: search(space=["lr"]), ("['lr']", "Give a dict")),
        ("no slots", lambda: search(parallel=0), ("parallel=0", "at least 1")),
        ("fewer than no retries", lambda: search(retries=-1), ("retries=-1", "at least 0")),
        ("no time", lambda: search(timeout=0), ("timeout=0", "at least 0.1")),
        ("text for the seed", lambda: search(seed="x"), ("seed='x'", "whole number from 0")),
        ("yes for resume", lambda: search(resume="yes"), ("resume='yes'", "'if_exists'")),
        ("a slip in the backend", lambda: search(backend="process"), ("backend='process'", "'processes'")),
        ("only parameter servers", lambda: search(ps=1), ("ps=1", "Raise nodes_per_trial")),
        ("the project's name for it", lambda: search(project="mnist"), ("project='mnist'", "Project.open(")),
        ("options of the sampler as text", lambda: search(sampler_options="x"), ("'x'", "Give a dict")),
        ("an option that it has not", lambda: search(sampler_options={"x": 1}), ("'x'", "no options")),
        (
            "a grid of a million",
            lambda: grid({"lr": list(range(1001)), "batch": list(range(1000))}),
            ("1001000", "Use fewer values"),
        ),
    ),
    *mistakes(
        InvalidSpace,
        (
            "a logarithm of 0",
            lambda: search(space={"lr": Range(0, 1, log=True)}),
            ("Range(0, 1", "begin above 0"),
        ),
        (
            "two whole numbers",
            lambda: search(space={"lr": Range(0, 1)}),
            ("Range(0.0, 1.0)", "Choice([0, 1])"),
        ),
        (
            "bounds in reverse",
            lambda: search(space={"lr": Range(0.5, 0.1)}),
            ("Range(0.5, 0.1)", "write Range(0.1, 0.5)"),
        ),
        ("a grid of a range", lambda: grid({"lr": Range(0.0, 1.0)}), ("it is Range(0.0, 1.0)", "a step")),
        ("no values", lambda: search(space={"lr": []}), ("'lr'", "at least one value")),
        ("a tuple", lambda: search(space={"lr": (0.1, 0.5)}), ("(0.1, 0.5)", "Range(0.1, 0.5)")),
        ("a set", lambda: search(space={"lr": {1}}), ("{1}", "Give a list")),
        ("a bound as text", lambda: search(space={"lr": Range("1e-4", 1)}), ("'1e-4'", "without quotes")),
        ("half a dict", lambda: search(space={"lr": {"low": 1}}), ("{'low': 1}", '"high"')),
        ("text for choices", lambda: search(space={"lr": Choice("abc")}), ("'abc'", "as a list")),
        ("a range in a grid", lambda: grid({"lr": Range(0.1, 0.5)}), ("0.5", "a step")),
    ),
    *mistakes(
        BadArguments,
        ("a slip in a parameter", lambda: search(space={"lrr": [1]}), ("'lrr'", "did you mean 'lr'?")),
        ("a parameter left out", lambda: search(fn=lambda lr, size: 1), ("'size'", "not in the space")),
        ("the function's name for it", lambda: search(fn="train"), ("fn='train'", "the function itself")),
    ),
    *mistakes(
        InvalidDevices, ("fewer than no GPUs", lambda: search(gpus_per_trial=-1), ("gpus_per_trial=-1",))
    ),
    *mistakes(
        StudyNotFound,
        ("a study that is not there", lambda: search(name="no", resume=True), ("'no'", "resume")),
    ),
    *mistakes(
        NoActiveSpark, ("no Spark", lambda: search(backend=None), ("no SparkSession", "local_spark()"))
    ),
]
SESSION = [
    *mistakes(
        InvalidSessionSetting,
        ("no executors", lambda: local_spark(executors=0), ("executors is 0", WHOLE)),
        ("executors as text", lambda: local_spark(executors="2"), ("executors is '2'", WHOLE)),  # type: ignore[arg-type]
        ("memory without a unit", lambda: local_spark(memory="10"), ("memory is '10'", "such as '512m'")),
        ("memory as a number", lambda: local_spark(memory=1024), ("memory is 1024", "such as '512m'")),  # type: ignore[arg-type]
        ("too little memory", lambda: local_spark(memory="10m"), ("'10m'", "at least 512m")),
        (
            "a setting that is an argument",
            lambda: local_spark(conf={"spark.executor.memory": "2g"}),
            ("conf['spark.executor.memory'] is '2g'", "use the argument memory"),
        ),
    ),
]
PROJECT = [
    *mistakes(
        InvalidName,
        ("a number for the root", lambda: Project.open(5), ("'5'", "as text")),  # type: ignore[arg-type]
        (
            "a slash in a project's name",
            lambda: Project.open(name="a/b"),
            ("'a/b'", "cannot contain a slash"),
        ),
        (
            "a host for a local path",
            lambda: Project.open("file://host/x"),
            ("'file://host/x'", "file:///path"),
        ),
    ),
    *mistakes(
        UnsupportedStore, ("another store", lambda: Project.open("swift://x"), ("'swift://x'", "s3://"))
    ),
    *mistakes(
        BadArguments,
        (
            "text for bytes",
            lambda: Project.open().put("x", "a text"),  # type: ignore[arg-type]
            ("'a text'", "data.encode()"),
        ),
        (
            "a number for bytes",
            lambda: Project.open().create("x", 5),  # type: ignore[arg-type]
            ("data=5", "give bytes"),
        ),
    ),
    *mistakes(
        RunFileNotFound,
        (
            "a slip in the name of a file",
            lambda: hopyard.load_run(saved()).path("modell.bin"),
            ("'modell.bin'", "Did you mean 'model.bin'?"),
        ),
    ),
    *mistakes(
        PathNotFound,
        ("a file that is not there", lambda: Project.open().read("x/y"), ("x/y", "check the path")),
    ),
]


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Imports what is imported at the first call, which the limits do not count."""
    importlib.import_module("pyspark.sql")
    inside(lambda ctx: ctx.report(1, loss=1.0))
    with pytest.raises(InvalidSearch):
        search(trials=0)
    CliRunner().invoke(build_app(), ["runs"])


@pytest.mark.parametrize("mistake", [*LAUNCH, *INSIDE, *SEARCH, *SESSION, *PROJECT], ids=str)
def test_a_mistake_is_answered_at_once_with_its_remedy(mistake: Mistake) -> None:
    check_mistake(mistake, seconds=SECONDS)


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a study of the name digits."""
    project = Project.open(str(tmp_path_factory.mktemp("taken")))
    search(name="digits", project=project)
    return project


RESUMED: list[tuple[str, dict[str, Any], type[Exception], tuple[str, ...]]] = [
    ("a name that is taken", {}, StudyExists, ("'digits'", "resume=True")),
    ("another space", {"space": {"lr": [7]}, "resume": True}, InvalidSearch, ("0.1", "Give the space")),
    ("another direction", {"direction": "min", "resume": True}, InvalidSearch, ("min", "Give the direction")),
    ("another metric", {"metric": "auc", "resume": True}, InvalidSearch, ("auc", "Give the metric")),
]


@pytest.mark.parametrize(("name", "options", "error", "says"), RESUMED, ids=[row[0] for row in RESUMED])
def test_a_study_that_exists_is_not_mistaken_for_another_one(
    taken: Project, name: str, options: dict[str, Any], error: type[Exception], says: tuple[str, ...]
) -> None:
    do = partial(search, name="digits", project=taken, **options)
    check_mistake(Mistake(name=name, do=do, error=error, says=says), seconds=SECONDS)


ROOTS: list[tuple[str, type[Exception], tuple[str, ...]]] = [
    ("{tmp}/file", RootUnusable, ("/file", "it is a file", "Set HOPYARD_ROOT")),
    ("/proc/nope", RootUnusable, ("/proc/nope", "Set HOPYARD_ROOT")),
    ("swift://bucket/x", UnsupportedStore, ("swift://bucket/x", "hdfs://")),
    ("hdfs://127.0.0.1:9/x", StoreUnreachable, ("127.0.0.1:9", "Check HOPYARD_ROOT")),
    ("hdfs://nowhere.invalid:9000", StoreUnreachable, ("nowhere.invalid:9000", "Check HOPYARD_ROOT")),
    ("webhdfs://127.0.0.1:9/x", StoreUnreachable, ("127.0.0.1:9", "Check HOPYARD_ROOT")),
    ("s3://bucket/x", StoreUnreachable, ("127.0.0.1:9", "Check HOPYARD_ROOT")),
]


@pytest.mark.parametrize("do", [run, search], ids=["launch", "search"])
@pytest.mark.parametrize(("root", "error", "says"), ROOTS, ids=[row[0] for row in ROOTS])
def test_a_root_that_cannot_be_is_told(
    do: Callable[[], Any],
    root: str,
    error: type[Exception],
    says: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOPYARD_ROOT", root.format(tmp=tmp_path))
    if root.startswith("s3"):
        monkeypatch.setenv(
            "HOPYARD_STORAGE_OPTIONS", '{"endpoint_url": "http://127.0.0.1:9", "key": "k", "secret": "s"}'
        )
    is_remote = error is StoreUnreachable
    check_mistake(
        Mistake(name=root, do=do, error=error, says=says), seconds=SERVER_SECONDS if is_remote else SECONDS
    )


VARIABLES: list[tuple[dict[str, str], Callable[[], Any], type[Exception], tuple[str, ...]]] = [
    ({"HOPYARD_PROJECT": "a/b"}, run, InvalidName, ("'a/b'", "cannot contain a slash")),
    ({"HOPYARD_STORAGE_OPTIONS": "{"}, run, InvalidSetting, ("HOPYARD_STORAGE_OPTIONS", "write it as in")),
    ({"HOPYARD_STORAGE_OPTIONS": "[]"}, run, InvalidSetting, ("HOPYARD_STORAGE_OPTIONS", "write it as in")),
    ({"JAVA_HOME": "/nonexistent"}, local_spark, JavaNotFound, ("/nonexistent", "Install one")),
    ({"JAVA_HOME": "", "PATH": "/nonexistent"}, local_spark, JavaNotFound, ("no java", "Install one")),
]


@pytest.mark.parametrize(
    ("environ", "do", "error", "says"), VARIABLES, ids=[str(row[0]) for row in VARIABLES]
)
def test_a_variable_that_cannot_be_is_told(
    environ: dict[str, str],
    do: Callable[[], Any],
    error: type[Exception],
    says: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    check_mistake(Mistake(name=str(environ), do=do, error=error, says=says), seconds=SECONDS)


COMMANDS: list[tuple[str, tuple[str, ...]]] = [
    ("logs nope", ("'nope'", "hopyard runs")),
    ("logs last --node 5", ("no node 5", "only node 0")),
    ("logs last --attempt 5", ("no attempt 5", "only attempt 0")),
    ("logs last --node x", ("--node", "whole number")),
    ("rm nope", ("'nope'", "hopyard runs")),
    ("restore nope", ("'nope'", "hopyard trash")),
    ("compare nope", ("1 cannot be compared", "give 2")),
    ("compare nope last", ("'nope'", "hopyard runs")),
    ("tensorboard nope", ("'nope'", "hopyard runs")),
    ("tensorboard /nonexistent/folder", ("/nonexistent/folder", "check the path")),
    ("trials nope", ("'nope'", "hopyard runs")),
    ("trials last", ("no studies yet", "hopyard search")),
    ("trials run.1", ("not a study", "lists the studies")),
    ("trials run.1 --json --csv", ("--csv and --json", "choose one")),
    ("serch", ("'serch'", "search")),
    ("runs --jsn", ("--jsn", "--json")),
    ("search", ("Missing argument",)),
    ("search {tmp}/train.py:train", ("Missing option", "--space")),
    ("search {tmp}/nope.py:train --space {tmp}/space.yaml", ("nope.py", "check the path")),
    ("search {tmp}/train.py --space {tmp}/space.yaml", ("train.py", "as in train.py:train")),
    ("search {tmp}/train.py:fit --space {tmp}/space.yaml", ("'fit'", "choose from train")),
    ("search {tmp}/broken.py:train --space {tmp}/space.yaml", ("broken.py", "line 1", "no grapes")),
    ("search {tmp}/train.py:train --space {tmp}/nope.yaml", ("nope.yaml", "check the path")),
    ("search {tmp}/train.py:train --space {tmp}/list.yaml", ("a list", "write parameters by name")),
    (
        "search {tmp}/train.py:train --space {tmp}/space.yaml --trials 0",
        ("--trials", "give at least 1"),
    ),
    (
        "search {tmp}/train.py:train --space {tmp}/space.yaml --backend processes",
        ("never end", "Give trials="),
    ),
    (
        "search {tmp}/train.py:train --space {tmp}/space.yaml --trials 1 --backend processes --sampler tpee",
        ("'tpee'", "Did you mean 'tpe'?"),
    ),
    (
        "search {tmp}/train.py:train --space {tmp}/space.yaml --trials 1 --backend processes --name no --resume",
        ("'no'", "--resume"),
    ),
    ("--root {tmp}/list.yaml runs", ("list.yaml", "it is a file", "--root")),
    ("--root swift://bucket runs", ("'swift://bucket'", "s3://")),
    ("--project a/b runs", ("'a/b'", "cannot contain a slash")),
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that commands name, and a project with one run."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "train.py").write_text("def train(lr):\n    return lr\n")
    (folder / "broken.py").write_text("raise ValueError('no grapes')\n")
    (folder / "space.yaml").write_text("lr: [0.1, 0.2]\n")
    (folder / "list.yaml").write_text("- 1\n")
    inside_project(folder)
    return folder


def inside_project(folder: Path) -> None:
    launch(train, backend="inline", progress=False, project=Project.open(str(folder / "root"), "vineyard"))


@pytest.fixture
def _same_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in ("train", "broken", "train_of_search"):
        if name not in before:
            sys.modules.pop(name, None)


@pytest.mark.usefixtures("_same_modules")
@pytest.mark.parametrize(("line", "says"), COMMANDS, ids=[row[0] for row in COMMANDS])
def test_a_command_that_cannot_be_is_answered_without_a_traceback(
    line: str, says: tuple[str, ...], programs: Path
) -> None:
    arguments = line.format(tmp=programs).split()
    options = ["--root", str(programs / "root"), "--project", "vineyard"]
    mistake = Mistake(name=line, do=command, error=Refused, says=says)
    check_mistake(mistake, [*options, *arguments], seconds=SECONDS)


class Refused(Exception):
    """What a command printed last, that did not do what it was told."""


def command(arguments: list[str]) -> None:
    result = CliRunner().invoke(build_app(), arguments, prog_name="hopyard")
    assert result.exit_code in (1, 2), (result.exit_code, result.output, result.exception)
    assert "Traceback" not in result.output
    assert not result.stdout
    text = " ".join(re.split(r"^[Ee]rror: ", result.stderr, flags=re.MULTILINE)[-1].split())
    is_typers_own = result.exit_code == USAGE_ERROR and not text.endswith((".", "?"))
    raise Refused(f"{text}." if is_typers_own else text)
