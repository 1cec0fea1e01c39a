from __future__ import annotations

import pytest

from hopyard.errors import InvalidSessionSetting
from hopyard.spark.session import SessionSettings

pytestmark = pytest.mark.unit


class Context:
    """As much of a SparkContext as settings are read from; the spark lane reads a real one."""

    defaultParallelism = 4  # noqa: N815

    def __init__(self, master: str, conf: dict[str, str]) -> None:
        self.master = master
        self.conf = conf

    def getConf(self) -> Context:  # noqa: N802
        return self

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802
        return list(self.conf.items())


class Session:
    def __init__(self, *, master: str = "yarn", **conf: str) -> None:
        self.sparkContext = Context(master, {key.replace("_", "."): value for key, value in conf.items()})


def read(session: Session, environ: dict[str, str] | None = None) -> SessionSettings:
    return SessionSettings.from_spark(session, environ=environ or {})  # type: ignore[arg-type]


def session_with(settings: SessionSettings) -> Session:
    session = Session()
    session.sparkContext.conf = settings.to_conf()
    return session


def test_settings_come_back_as_they_were_given() -> None:
    settings = SessionSettings(max_parallel=3, executor_memory_mb=2048, executor_gpus=2, parameter_servers=1)
    assert read(session_with(settings)) == settings


def test_conf_holds_the_keys_that_old_programs_read() -> None:
    settings = SessionSettings(max_parallel=3, executor_memory_mb=2048, executor_gpus=2, parameter_servers=1)
    assert settings.to_conf() == {
        "spark.executor.instances": "4",
        "spark.dynamicAllocation.maxExecutors": "4",
        "spark.executor.memory": "2048m",
        "spark.executor.resource.gpu.amount": "2",
        "spark.task.resource.gpu.amount": "2",
        "spark.tensorflow.num.ps": "1",
    }


def test_a_session_without_gpus_does_not_ask_for_any() -> None:
    assert not any("gpu" in key for key in SessionSettings().to_conf())


def test_parameter_servers_count_among_the_executors() -> None:
    assert SessionSettings(max_parallel=3, parameter_servers=2).num_executors == 5


@pytest.mark.parametrize(
    ("field", "value", "least"),
    [
        ("max_parallel", 0, 1),
        ("executor_memory_mb", 0, 1),
        ("executor_gpus", -1, 0),
        ("parameter_servers", -2, 0),
    ],
)
def test_a_number_that_is_too_small_is_refused_with_field_value_and_remedy(
    field: str, value: int, least: int
) -> None:
    with pytest.raises(InvalidSessionSetting) as refused:
        SessionSettings(**{field: value})
    assert str(refused.value) == f"{field} is {value}; give a whole number of at least {least}."


def test_a_number_that_is_not_whole_is_refused() -> None:
    with pytest.raises(InvalidSessionSetting, match=r"max_parallel is 1\.5"):
        SessionSettings(max_parallel=1.5)  # type: ignore[arg-type]


def test_dynamic_allocation_counts_up_to_its_maximum() -> None:
    session = Session(
        spark_dynamicAllocation_enabled="true",
        spark_dynamicAllocation_maxExecutors="8",
        spark_executor_instances="2",
    )
    assert read(session).max_parallel == 8


def test_a_fixed_allocation_counts_its_instances() -> None:
    session = Session(spark_dynamicAllocation_maxExecutors="8", spark_executor_instances="2")
    assert read(session).max_parallel == 2


def test_a_local_master_runs_as_many_at_once_as_it_has_threads() -> None:
    assert read(Session(master="local[4]")).max_parallel == 4


@pytest.mark.parametrize("master", ["local-cluster[2,1,512]", "local-cluster[ 2 , 4 , 1024 ]"])
def test_a_local_cluster_tells_its_executors_by_its_name(master: str) -> None:
    assert read(Session(master=master)).num_executors == 2


def test_a_cluster_that_does_not_tell_its_executors_is_refused() -> None:
    with pytest.raises(InvalidSessionSetting, match=r"spark\.executor\.instances is not set"):
        read(Session(master="yarn"))


def test_a_setting_that_is_not_a_number_is_named() -> None:
    with pytest.raises(InvalidSessionSetting, match=r"spark\.executor\.instances is 'many'"):
        read(Session(spark_executor_instances="many"))


def test_parameter_servers_may_come_from_the_environment() -> None:
    session = Session(spark_executor_instances="3")
    assert read(session, {"NUM_TF_PS": "1"}).parameter_servers == 1


def test_parameter_servers_leave_an_executor_to_training() -> None:
    with pytest.raises(
        InvalidSessionSetting, match=r"spark\.tensorflow\.num\.ps is 2; leave at least one of the 2"
    ):
        read(Session(spark_executor_instances="2", spark_tensorflow_num_ps="2"))
