"""Event files for TensorBoard's HPARAMS tab: what a study varies, and what came of each trial.

They are made of TensorBoard's own messages. Its `hparams.api` and `EventFileWriter` are left alone, as they load
TensorFlow where there is one, which takes seconds.
"""

from __future__ import annotations

import importlib.util
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeAlias

BOOL, NUMBER, TEXT = "bool_value", "number_value", "string_value"  # fields of a protobuf Value
DATA_TYPES = {BOOL: "DATA_TYPE_BOOL", NUMBER: "DATA_TYPE_FLOAT64", TEXT: "DATA_TYPE_STRING"}
FILE_VERSION = "brain.Event:2"
SUFFIX = ".hparams"


def is_installed() -> bool:
    """Returns whether TensorBoard is there, which all writing here needs."""
    return importlib.util.find_spec("tensorboard") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """All numbers from `low` to `high`."""

    low: float
    high: float


Domain: TypeAlias = "Interval | Sequence[object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyEvents:
    """The table of a study in the HPARAMS tab: it has a column per parameter and metric, and a row per trial.

    TensorBoard shows one table, so a server is to be started on the folder of one study.

    Attributes:
        params: By parameter, the values that it may take. A column is of numbers or of bools if all of its values
            are, else of text.
        metrics: The values that a trial ends with.
    """

    params: Mapping[str, Domain]
    metrics: Sequence[str]

    def columns(self, *, created: float) -> EventFile:
        """Returns the columns; their file belongs into the study's own folder, and those of its trials below it."""
        from tensorboard.plugins.hparams import metadata
        from tensorboard.plugins.hparams.api_pb2 import Experiment

        experiment = Experiment(
            time_created_secs=created,
            hparam_infos=[_param_column(name, domain) for name, domain in self.params.items()],
            metric_infos=[_metric_column(name) for name in self.metrics],
        )
        value = _plugin_value(metadata.EXPERIMENT_TAG, experiment=experiment)
        return _begun(created, value)

    def begin(self, *, params: Mapping[str, object], started: float, name: str = "") -> EventFile:
        """Returns what a trial begins with; of trials that begin in the same folder, TensorBoard shows the first.

        Args:
            params: The values of its parameters.
            started: When it began, in seconds since 1970.
            name: What its row is called; the path of its folder if not given. Trials of the same name are one row,
                with the means of their values.
        """
        from tensorboard.plugins.hparams import metadata
        from tensorboard.plugins.hparams.plugin_data_pb2 import SessionStartInfo

        info = SessionStartInfo(group_name=name, start_time_secs=started)
        for param, value in params.items():
            kind = self._kind(param, value)
            setattr(info.hparams[param], kind, _cell(value, kind))
        return _begun(started, _plugin_value(metadata.SESSION_START_INFO_TAG, session_start_info=info))

    def _kind(self, param: str, value: object) -> str:
        # TensorBoard cannot sort a column of numbers and text, so one text makes all of them text.
        if param in self.params and _kind(self.params[param]) == TEXT:
            return TEXT
        return _kind((value,))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFile:
    """An event file, as it is to be stored.

    Attributes:
        name: Its name.
        data: What is in it.
    """

    name: str
    data: bytes

    def end(self, values: Mapping[str, float], *, ok: bool, ended: float) -> EventFile:
        """Returns the file of a trial with how it ended.

        Args:
            values: Its metrics. One that is not finite is left out: TensorBoard cannot sort by it.
            ok: Whether it came to its end; False: it failed.
            ended: When, in seconds since 1970.
        """
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.plugins.hparams import metadata
        from tensorboard.plugins.hparams.plugin_data_pb2 import SessionEndInfo

        info = SessionEndInfo(status="STATUS_SUCCESS" if ok else "STATUS_FAILURE", end_time_secs=ended)
        finals = [
            Summary.Value(tag=_final_tag(name), simple_value=value)
            for name, value in values.items()
            if math.isfinite(value)
        ]
        end = _plugin_value(metadata.SESSION_END_INFO_TAG, session_end_info=info)
        return replace(self, data=self.data + _records(_event(ended, summary=Summary(value=[end, *finals]))))


def _final_tag(metric: str) -> str:
    # Not the metric's own name: a training function that writes that one, too, would lose points of its curve.
    return f"final/{metric}"


def _metric_column(name: str) -> Any:
    from tensorboard.plugins.hparams.api_pb2 import MetricInfo, MetricName

    return MetricInfo(name=MetricName(tag=_final_tag(name)), display_name=name)


def _param_column(name: str, domain: Domain) -> Any:
    from tensorboard.plugins.hparams.api_pb2 import HParamInfo

    kind = _kind(domain)
    info = HParamInfo(name=name, type=DATA_TYPES[kind])
    if isinstance(domain, Interval):
        info.domain_interval.min_value, info.domain_interval.max_value = domain.low, domain.high
        info.differs = domain.low < domain.high
    else:
        info.domain_discrete.extend([_cell(value, kind) for value in domain])
        info.differs = len(domain) > 1
    return info


def _kind(domain: Domain) -> str:
    if isinstance(domain, Interval) or all(map(_is_number, domain)):
        return NUMBER
    return BOOL if all(isinstance(value, bool) for value in domain) else TEXT


def _is_number(value: object) -> bool:
    # Infinity and NaN are none in JSON, and so none for TensorBoard.
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _cell(value: Any, kind: str) -> float | bool | str:
    """Returns a value as its column holds it."""
    if kind == TEXT:
        return str(value)
    return float(value) if kind == NUMBER else bool(value)


def _plugin_value(tag: str, **content: Any) -> Any:
    """Returns a message of the HPARAMS plugin as the value of a summary."""
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import metadata
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    described = metadata.create_summary_metadata(HParamsPluginData(**content))
    return Summary.Value(tag=tag, metadata=described, tensor=metadata.NULL_TENSOR)


def _event(time: float, **content: Any) -> Any:
    from tensorboard.compat.proto.event_pb2 import Event

    return Event(wall_time=time, **content)


def _begun(time: float, value: Any) -> EventFile:
    from tensorboard.compat.proto.summary_pb2 import Summary

    first = _event(time, file_version=FILE_VERSION)
    # In the order of names, which is that of time in them, TensorBoard reads the files of a folder.
    name = f"events.out.tfevents.{int(time):010d}{SUFFIX}"
    return EventFile(name=name, data=_records(first, _event(time, summary=Summary(value=[value]))))


def _records(*events: Any) -> bytes:
    from tensorboard.summary.writer.record_writer import RecordWriter

    stream = io.BytesIO()
    writer = RecordWriter(stream)
    for event in events:
        writer.write(event.SerializeToString())
    return stream.getvalue()
