import getpass

import pytest

from hopyard.errors import InvalidSetting
from hopyard.store.defaults import default_name, default_options, default_root

pytestmark = pytest.mark.unit


def test_environment_says_which_project() -> None:
    environment = {
        "HOPYARD_ROOT": "s3://bucket",
        "HOPYARD_PROJECT": "demo",
        "HOPYARD_STORAGE_OPTIONS": '{"anon": true}',
    }
    assert default_root(environment) == "s3://bucket"
    assert default_name(environment) == "demo"
    assert default_options(environment) == {"anon": True}


def test_without_it_the_project_is_the_users_own() -> None:
    assert default_root({}) == "~/.hopyard"
    assert default_name({}) == getpass.getuser()
    assert default_options({}) == {}


@pytest.mark.parametrize("text", ["{", "[1]", '"text"'])
def test_options_that_are_no_object_are_refused(text: str) -> None:
    with pytest.raises(InvalidSetting, match="HOPYARD_STORAGE_OPTIONS"):
        default_options({"HOPYARD_STORAGE_OPTIONS": text})
