"""Runs one command and sees to it that nothing of it outlives its parent.

This file is executed as a script, by path, with ``python -I -S``: it imports only the standard library
and starts in a few milliseconds. It stands between a supervisor (an executor's Python worker, or a
driver) and the command, because no single mechanism covers every way to die:

* the supervisor is killed -9: its process file descriptor tells, or our parent id changes;
* the supervisor is stopped or hangs, so that its driver takes the command for lost: the supervisor shows on
  a pipe that it goes on, and falls silent;
* the warden is killed -9: the kernel kills the command (parent-death signal; it is tied to the thread
  that started a process, which is why the supervisor, having many, cannot use it: the warden has one);
* the command leaves processes behind, even in sessions of their own: they become children of the
  warden (it is a subreaper) and are killed.

Arguments: status fd, the supervisor's pid, grace seconds, a scratch folder or "", the fd of the pipe that
the supervisor writes to, for how many seconds it may be silent ("0 inf" for no such pipe), the command.
SIGTERM to the warden stops the command. The warden writes lines to the status fd: ``started <pid>``,
then ``exited <returncode>`` (negative: minus the signal number) when every process of the command is
gone, and before that ``silent <seconds>`` if the supervisor's silence is why. If the supervisor vanishes, the
scratch folder is removed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import shutil
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LOOK_AT_PARENT_SECONDS = 1.0
NO_PIPE = 0
REAP_SECONDS = 10.0


def prctl(option: int, value: int) -> None:
    """Sets an attribute of this process; only Linux has it, elsewhere the lifeline does the work."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def start(command: list[str], private_fds: list[int]) -> int:
    """Forks and executes the command in a process group of its own; returns its pid."""
    warden = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != warden:
            os._exit(1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        for fd in private_fds:
            os.set_inheritable(fd, False)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot execute {command[0]!r}: {error}\n".encode())
    os._exit(127)


def kill_group(pid: int, number: int) -> None:
    """Signals a process group, which may be gone already."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def kill_adopted() -> None:
    """Kills what the command left behind in other groups: by now these are our own children."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            pids = [int(word) for word in children.read().split()]
    except FileNotFoundError:  # not Linux: the process group is all we know
        return
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def reap(main_pid: int) -> tuple[int | None, bool]:
    """Collects ended children; returns the main one's return code if it ended, and if any are left."""
    code: int | None = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code, False
        if pid == 0:
            return code, True
        if pid == main_pid:
            code = os.waitstatus_to_exitcode(status)


def sweep(main_pid: int, code: int | None) -> int:
    """Kills every process of the command and waits for their end; returns the main return code."""
    deadline = time.monotonic() + REAP_SECONDS
    while True:
        kill_group(main_pid, signal.SIGKILL)
        kill_adopted()
        found, left = reap(main_pid)
        code = found if found is not None else code
        if not left or time.monotonic() > deadline:
            return -signal.SIGKILL if code is None else code
        select.select([], [], [], 0.01)


class Silence:
    """How long the supervisor has not shown that it goes on, as far as this process was awake to hear it.

    Whatever stops this process, such as a machine that sleeps, may have stopped the supervisor as well.
    """

    def __init__(self, pipe: int, longest: float) -> None:
        self.pipes = [] if pipe == NO_PIPE else [pipe]
        self.longest = longest
        self.seconds = 0.0
        self.looked = time.monotonic()

    @property
    def is_too_long(self) -> bool:
        """Whether the supervisor must be taken for hung."""
        return self.seconds > self.longest

    def listen(self, ready: list[int]) -> None:
        """Records the time, and of what the supervisor wrote."""
        now = time.monotonic()
        self.seconds += min(now - self.looked, 2 * LOOK_AT_PARENT_SECONDS)
        self.looked = now
        for pipe in self.pipes:
            if pipe in ready:
                self.seconds = 0.0
                if not os.read(pipe, 4096):  # it is gone, which the watch sees
                    self.pipes = []


class Watch:
    """Waits for what ends the command: its own end, a request to stop, the supervisor's end or silence."""

    def __init__(self, pid: int, supervisor: int, grace: float, silence: Silence) -> None:
        self.pid = pid
        self.supervisor = supervisor
        self.grace = grace
        self.silence = silence
        self.orphaned = False
        self.kill_at = float("inf")
        self.wakeup, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self.stop())
        self.listening = [self.wakeup, *process_fd(supervisor)]
        self.descriptors = {writer, *self.listening, *silence.pipes}

    def stop(self) -> None:
        """Asks the command to end, and marks when patience ends."""
        if self.kill_at == float("inf"):
            kill_group(self.pid, signal.SIGTERM)
            self.kill_at = time.monotonic() + self.grace

    def run(self) -> int:
        """Returns the command's return code once nothing of it is left."""
        while True:
            code, _ = reap(self.pid)
            self.orphaned = self.orphaned or os.getppid() != self.supervisor
            ended = code is not None or self.orphaned or self.silence.is_too_long
            if ended or time.monotonic() >= self.kill_at:
                return sweep(self.pid, code)
            patience = min(LOOK_AT_PARENT_SECONDS, max(0.0, self.kill_at - time.monotonic()))
            ready, _, _ = select.select([*self.listening, *self.silence.pipes], [], [], patience)
            self.silence.listen(ready)
            if self.wakeup in ready:
                os.read(self.wakeup, 512)


def process_fd(pid: int) -> list[int]:
    """Returns a file descriptor that is readable once the process is gone; none where there is no such thing."""
    try:
        return [os.pidfd_open(pid)]
    except ProcessLookupError:  # gone already, which our parent id tells
        return []
    except (AttributeError, OSError):  # not Linux, or older than 5.3: the parent id is looked at every second
        return []


def main(arguments: list[str]) -> int:
    """Runs the command of the arguments to its end."""
    status, supervisor, grace = int(arguments[0]), int(arguments[1]), float(arguments[2])
    scratch, silence, command = arguments[3], Silence(int(arguments[4]), float(arguments[5])), arguments[6:]
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    pid = start(command, [status, *silence.pipes])
    watch = Watch(pid, supervisor, grace, silence)
    # output pipes and ports must end with the command, so the warden keeps no copy of them
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    close_others({0, 1, 2, status, *watch.descriptors})
    report(status, f"started {pid}")
    code = watch.run()
    if silence.is_too_long:
        report(status, f"silent {silence.seconds:.0f}")
    report(status, f"exited {code}")
    if watch.orphaned and scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0


def close_others(kept: set[int]) -> None:
    """Closes what was inherited for the command only.

    Those that are open are few, and the limit may be a thousand million. Some may lie above it.
    """
    try:
        opened = [int(name) for name in os.listdir("/proc/self/fd")]
    except FileNotFoundError:  # not Linux
        _close_up_to_the_limit(kept)
        return
    for fd in set(opened) - kept:
        try:
            os.close(fd)
        except OSError as error:
            if error.errno != errno.EBADF:  # else it is the one that the folder was read with
                raise


def _close_up_to_the_limit(kept: set[int]) -> None:
    edges = sorted(kept)
    for low, high in zip(edges, [*edges[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)


def report(status: int, line: str) -> None:
    """Tells the supervisor, which may be gone; then the watch finds out."""
    try:
        os.write(status, f"{line}\n".encode())
    except BrokenPipeError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
