from uuid import uuid4

import pytest

from hopyard.errors import StoreFailed
from hopyard.store import Project
from hopyard.testing.mini_hdfs import MiniHDFS
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.hdfs


class TestWebHdfsStore(StoreContract):
    replacements = 10
    races = 5
    kills = 2
    longest_write = 0.2

    @pytest.fixture
    def project(self, mini_hdfs: MiniHDFS) -> Project:
        return Project.open(mini_hdfs.webhdfs_url, uuid4().hex)


def test_files_belong_to_the_user_that_the_options_name(mini_hdfs: MiniHDFS) -> None:
    project = Project.open(mini_hdfs.webhdfs_url, uuid4().hex, storage_options={"user": "ada"})
    project.put("file", b"")
    gateway = project._files()._gateway
    assert gateway.info(f"/Projects/{project.name}/file")["owner"] == "ada"


def test_gateway_that_does_not_answer_is_an_error_of_the_store() -> None:
    with pytest.raises(StoreFailed, match=r"127\.0\.0\.1"):
        Project.open("webhdfs://127.0.0.1:1", "demo").read("file")
