from uuid import uuid4

import pytest

from hopyard.store import Project
from hopyard.testing.mini_hdfs import MiniHDFS
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.hdfs


class TestWebHdfsStore(StoreContract):
    replacements = 8
    kills = 2
    longest_write = 0.2

    @pytest.fixture
    def project(self, mini_hdfs: MiniHDFS) -> Project:
        return Project.open(mini_hdfs.webhdfs_url, uuid4().hex)
