"""Where files live: a project folder in any store, with atomic files and write-once segments."""

from hopyard.store.filesystem import Capabilities, Entry, FileSystem
from hopyard.store.journal import Journal, read_journal
from hopyard.store.layout import Layout, RunPaths, trial_name
from hopyard.store.project import Project
from hopyard.store.segments import Segment, SegmentWriter, read_segments, segment_numbers
from hopyard.store.sync import FolderSync, SyncReport

__all__ = [
    "Capabilities",
    "Entry",
    "FileSystem",
    "FolderSync",
    "Journal",
    "Layout",
    "Project",
    "RunPaths",
    "Segment",
    "SegmentWriter",
    "SyncReport",
    "read_journal",
    "read_segments",
    "segment_numbers",
    "trial_name",
]
