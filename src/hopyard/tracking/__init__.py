"""What is remembered of runs: their records, the writers that keep them and the readers that show them."""

from hopyard.tracking.catalog import find_run, list_runs
from hopyard.tracking.feeds import FedEpoch, FedPartition, feeds_of, read_fed_partitions, read_feeds
from hopyard.tracking.listing import Listing
from hopyard.tracking.logs.following import NodeLine
from hopyard.tracking.node_writer import NodeWriter
from hopyard.tracking.paths import run_paths
from hopyard.tracking.reader import RunReader
from hopyard.tracking.records import MetricPoint, NodeOutcome, RunRecord, StudyRecord, TrialRecord
from hopyard.tracking.run import Run, load_run
from hopyard.tracking.run_index import RunIndex, RunListing
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import Direction, NodeState, RunState, TrialState
from hopyard.tracking.studies import find_study, list_studies, newest_study, study_record
from hopyard.tracking.trial_runs import parameters_of, trial_record
from hopyard.tracking.trials import TrialsReader, read_trials
from hopyard.tracking.writer import RunWriter

__all__ = [
    "Direction",
    "FedEpoch",
    "FedPartition",
    "Listing",
    "MetricPoint",
    "NodeLine",
    "NodeOutcome",
    "NodeState",
    "NodeWriter",
    "Run",
    "RunId",
    "RunIndex",
    "RunListing",
    "RunReader",
    "RunRecord",
    "RunState",
    "RunWriter",
    "StudyRecord",
    "TrialRecord",
    "TrialState",
    "TrialsReader",
    "feeds_of",
    "find_run",
    "find_study",
    "list_runs",
    "list_studies",
    "load_run",
    "newest_study",
    "parameters_of",
    "read_fed_partitions",
    "read_feeds",
    "read_trials",
    "run_paths",
    "study_record",
    "trial_record",
]
