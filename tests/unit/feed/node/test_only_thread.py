from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.unit

PROGRAM = """
import threading
from hopyard.feed.node.only_thread import is_only_thread

end = threading.Event()
own = threading.Thread(target=end.wait, name="hopyard-own", daemon=True)
own.start()
before = is_only_thread()
other = threading.Thread(target=end.wait)
other.start()
beside = is_only_thread()
end.set()
other.join()
print(before, beside, is_only_thread())
"""


def test_only_threads_of_the_user_count() -> None:  # in a process of its own: that of the tests has some
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False", "True"]
