from uuid import uuid4

import pytest

from hopyard.store import Project
from hopyard.testing.mini_hdfs import MiniHDFS
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.hdfs


class TestHdfsStore(StoreContract):
    # A file takes half a second: the client waits for the DataNode's report.
    replacements = 8
    kills = 2
    longest_write = 0.8

    @pytest.fixture
    def project(self, mini_hdfs: MiniHDFS) -> Project:
        return Project.open(mini_hdfs.url, uuid4().hex)
