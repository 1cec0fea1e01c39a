from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from hopyard.testing.processes import still_running
from hopyard.worker.child import Child, Exit

pytestmark = pytest.mark.unit


class Recorder:
    """Collects what a child says."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.lines: list[bytes] = []
        self.messages: list[bytes] = []

    def child(self, code: str, **options: object) -> Child:
        command = [sys.executable, "-S", "-c", textwrap.dedent(code)]
        return Child(
            command,
            on_line=self.lines.append,
            on_message=self.messages.append,
            env=os.environ,
            scratch=self.scratch,
            **options,  # type: ignore[arg-type]
        )

    def run(self, code: str) -> Exit:
        with self.child(code) as child:
            ended = child.wait(30)
        assert ended is not None
        return ended


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


def pump_until(child: Child, seen: list[bytes], count: int) -> None:
    """Waits for that many lines; fails after 20 seconds."""
    for _ in range(200):
        if len(seen) >= count:
            return
        child.wait(0.1)
    pytest.fail(f"only {seen} after 20 s")


def test_both_output_streams_arrive_line_by_line_in_order(recorder: Recorder) -> None:
    recorder.run("import os; os.write(1, b'a\\nb'); os.write(2, b'c\\n'); os.write(1, b'last')")
    assert recorder.lines == [b"a", b"bc", b"last"]


def test_an_endless_line_arrives_in_pieces_without_loss(recorder: Recorder) -> None:
    recorder.run("print('x' * 1_000_000)")
    assert b"".join(recorder.lines) == b"x" * 1_000_000
    assert max(map(len, recorder.lines)) <= 65536


def test_messages_travel_on_a_channel_of_their_own(recorder: Recorder) -> None:
    recorder.run("import os; print('out'); os.write(int(os.environ['HOPYARD_CHANNEL']), b'{}\\n[]\\n')")
    assert (recorder.lines, recorder.messages) == ([b"out"], [b"{}", b"[]"])


def test_an_exit_code_is_told(recorder: Recorder) -> None:
    ended = recorder.run("raise SystemExit(3)")
    assert (ended.code, ended.signal, str(ended)) == (3, None, "ended with exit code 3")


def test_a_kill_is_told_in_words(recorder: Recorder) -> None:
    ended = recorder.run("import os; os.kill(os.getpid(), 9)")
    assert (ended.code, ended.signal) == (-9, 9)
    assert str(ended) == "was killed by signal 9 (SIGKILL), often the out-of-memory killer"


def test_a_real_time_signal_has_no_name_but_a_number() -> None:
    assert str(Exit(code=-40)) == "was killed by signal 40"


def test_a_command_that_does_not_exist_says_so(recorder: Recorder) -> None:
    child = Child(
        ["/nonexistent/program"],
        on_line=recorder.lines.append,
        on_message=recorder.messages.append,
        env=os.environ,
        scratch=recorder.scratch,
    )
    with child:
        ended = child.wait(30)
    assert ended == Exit(code=127)
    assert b"cannot execute '/nonexistent/program'" in recorder.lines[0]


def test_wait_returns_none_while_the_child_runs(recorder: Recorder) -> None:
    with recorder.child("import time; print('up', flush=True); time.sleep(60)") as child:
        pump_until(child, recorder.lines, 1)
        assert child.wait(0.01) is None


def test_stop_asks_first_and_kills_after_the_grace_period(recorder: Recorder) -> None:
    stubborn = "import signal, time; signal.signal(15, lambda *_: print('no', flush=True)); print('up', flush=True); [time.sleep(1) for _ in range(60)]"
    with recorder.child(stubborn, grace_seconds=0.2) as child:
        pump_until(child, recorder.lines, 1)
        child.stop()
        ended = child.wait(30)
    assert ended == Exit(code=-9)
    assert recorder.lines == [b"up", b"no"]


def test_leaving_the_context_ends_the_child(recorder: Recorder) -> None:
    with recorder.child("import time; print('up', flush=True); time.sleep(60)") as child:
        pump_until(child, recorder.lines, 1)
        assert child.pid is not None
    assert not psutil.pid_exists(child.pid)


LEAVES_GRANDCHILDREN = """
    import os, subprocess, sys
    sleeper = [sys.executable, '-S', '-c', 'import time; time.sleep(600)']
    in_group = subprocess.Popen(sleeper)
    in_own_session = subprocess.Popen(sleeper, start_new_session=True)
    print(in_group.pid, in_own_session.pid, flush=True)
"""


def test_what_the_command_leaves_behind_ends_with_it(recorder: Recorder) -> None:
    recorder.run(LEAVES_GRANDCHILDREN)
    for pid in recorder.lines[0].split():
        assert not psutil.pid_exists(int(pid))


def test_killing_the_warden_ends_the_command(recorder: Recorder) -> None:
    with recorder.child("import time; print('up', flush=True); time.sleep(600)") as child:
        pump_until(child, recorder.lines, 1)
        assert child.pid is not None
        command = psutil.Process(child.pid)
        os.kill(child._warden.pid, signal.SIGKILL)
        ended = child.wait(10)
    assert ended == Exit(code=None)
    assert "warden" in str(ended)
    assert not still_running([command], 10)


SUPERVISOR = """
    import os, sys
    from pathlib import Path
    from hopyard.worker.child import Child
    code = sys.argv[1]
    with Child([sys.executable, "-S", "-c", code], on_line=lambda l: print(l.decode(), flush=True),
               on_message=print, env=os.environ, scratch=Path(sys.argv[2])) as child:
        child.wait()
"""


def test_kill_9_of_the_supervisor_ends_everything_and_removes_the_scratch_folder(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = textwrap.dedent(LEAVES_GRANDCHILDREN) + "in_group.wait()"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SUPERVISOR), code, str(scratch)], stdout=subprocess.PIPE
    )
    assert supervisor.stdout is not None
    assert supervisor.stdout.readline()
    family = psutil.Process(supervisor.pid).children(recursive=True)
    assert len(family) == 4
    supervisor.kill()
    supervisor.wait()
    supervisor.stdout.close()
    assert not still_running(family, 10)
    assert not scratch.exists()


def test_a_flood_of_output_is_not_kept_in_memory(tmp_path: Path) -> None:
    seen = 0

    def count(line: bytes) -> None:
        nonlocal seen
        seen += len(line) + 1

    before = psutil.Process().memory_info().rss
    code = "import os\nfor _ in range(64): os.write(1, (b'y' * 127 + b'\\n') * 8192)"
    with Child(
        [sys.executable, "-S", "-c", code], on_line=count, on_message=count, env=os.environ, scratch=tmp_path
    ) as child:
        assert child.wait(60) == Exit(code=0)
    assert seen == 64 << 20
    assert psutil.Process().memory_info().rss - before < 32 << 20


def test_the_command_gets_the_descriptors_that_it_is_to_inherit_under_the_same_numbers(
    recorder: Recorder, tmp_path: Path
) -> None:
    (tmp_path / "content").write_text("inherited")
    with (tmp_path / "content").open() as file, (tmp_path / "content").open() as other:
        code = f"""
            import os
            print(os.read({file.fileno()}, 100).decode())
            try:
                os.fstat({other.fileno()})
            except OSError:
                print('not the other')
        """
        with recorder.child(code, inherited=(file.fileno(),)) as child:
            assert child.wait(30) == Exit(code=0)
    assert recorder.lines == [b"inherited", b"not the other"]


def test_what_the_command_inherits_is_its_own_to_close_while_it_runs(recorder: Recorder) -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    code = f"""
        import os, time
        os.write({write}, b'.')
        print('has it', flush=True)
        os.close({write})
        print('closed it', flush=True)
        time.sleep(600)
    """
    with recorder.child(code, inherited=(write,)) as child:
        os.close(write)
        pump_until(child, recorder.lines, 2)
        assert os.read(read, 10) == b"."
        assert os.read(read, 10) == b""  # the end: neither the warden nor anybody else has it
    os.close(read)
