from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.unit

CLOSES = """
    import fcntl, os, resource
    from hopyard.worker.warden import close_others

    kept, low, high = os.dup(0), os.dup(0), fcntl.fcntl(0, fcntl.F_DUPFD, 500)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))
    close_others({0, 1, 2, kept})
    print([os.path.exists(f"/proc/self/fd/{fd}") for fd in (0, 1, 2, kept, low, high)])
"""


def test_all_descriptors_but_those_to_keep_are_closed_whatever_the_limit_is() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CLOSES)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout == "[True, True, True, True, False, False]\n"
