from uuid import uuid4

import pytest

from hopyard.store import Project
from hopyard.testing.s3_server import S3Server
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.s3


class TestS3Store(StoreContract):
    has_real_folders = False
    kills = 2
    longest_write = 0.1

    @pytest.fixture
    def project(self, s3_server: S3Server) -> Project:
        root = f"{s3_server.new_bucket()}/some/prefix"
        return Project.open(root, uuid4().hex, storage_options=s3_server.storage_options)
