"""A supervisor that is stopped, and hears and says nothing, is not outlived by its child for long."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from hopyard.testing.processes import still_running

pytestmark = pytest.mark.cluster

LONGEST_SILENCE = 3.0
SUPERVISOR = """
    import os, sys, threading
    from pathlib import Path
    from hopyard.worker.child import Child

    code = "import sys, time; print('up', flush=True); time.sleep(float(sys.argv[1]))"
    over = threading.Event()

    def show_life(child):
        while not over.wait(0.1):
            child.show_life()

    with Child([sys.executable, "-S", "-c", code, sys.argv[2]], on_line=lambda l: print(l.decode(), flush=True),
               on_message=print, env=os.environ, scratch=Path(sys.argv[1]), longest_silence=float(sys.argv[3])) as child:
        shows = threading.Thread(target=show_life, args=(child,))
        shows.start()
        ended = child.wait()
        over.set()
        shows.join()
    print(ended, flush=True)
"""


class Supervisor:
    """A real supervisor, its warden and the command."""

    def __init__(self, scratch: Path, seconds: float) -> None:
        arguments = [str(scratch), str(seconds), str(LONGEST_SILENCE)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SUPERVISOR), *arguments], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "up\n"
        self.warden, self.command = psutil.Process(self.process.pid).children(recursive=True)

    def last_words(self) -> str:
        assert self.process.stdout is not None
        return self.process.communicate(timeout=30)[0].strip()


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    started = Supervisor(tmp_path, seconds=LONGEST_SILENCE * 3)
    yield started
    started.process.kill()
    started.process.communicate()


def test_a_child_is_ended_when_its_supervisor_is_silent_for_too_long(supervisor: Supervisor) -> None:
    supervisor.process.send_signal(signal.SIGSTOP)
    assert not still_running([supervisor.command], LONGEST_SILENCE * 2)
    supervisor.process.send_signal(signal.SIGCONT)
    assert supervisor.last_words().startswith(
        "was ended by its warden process, as its supervisor had been silent for"
    )


def test_a_child_goes_on_beside_a_supervisor_that_is_stopped_for_less_than_that(
    supervisor: Supervisor,
) -> None:
    supervisor.process.send_signal(signal.SIGSTOP)
    assert still_running([supervisor.command], LONGEST_SILENCE / 2)
    supervisor.process.send_signal(signal.SIGCONT)
    assert supervisor.last_words() == "ended with exit code 0"


def test_a_child_goes_on_when_its_warden_was_stopped_as_well(supervisor: Supervisor) -> None:
    supervisor.warden.suspend()
    supervisor.process.send_signal(signal.SIGSTOP)
    assert still_running([supervisor.command], LONGEST_SILENCE + 1)
    supervisor.warden.resume()
    supervisor.process.send_signal(signal.SIGCONT)
    assert supervisor.last_words() == "ended with exit code 0"
