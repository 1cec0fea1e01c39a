"""The main program of a supervisor that leaves its Spark task: ``python -m hopyard.worker.detach.main <fd> <seconds>``.

It becomes three processes. The first ends at once, so that the others are no children of who started it. The second is
small and waits for the third, the supervisor. If that is killed, the second one tells the driver, which would
otherwise learn it from a lease that runs out. If it hangs, the second one kills it: nobody else can, as the
driver may be gone by then.

Standard input is the file with the orders, standard output a file for what a supervisor has to say, and ``fd`` a pipe
to the Spark task, which waits until all nodes have arrived. A supervisor that shows no life for ``seconds`` hangs.
Only the standard library is loaded before the second fork.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from hopyard.worker.warden import LOOK_AT_PARENT_SECONDS, PR_SET_CHILD_SUBREAPER, Silence, prctl

KILLED = "the process that waits for it killed it"
LAST_CALL_SECONDS = 5.0  # for a driver that has most likely given up the node when its lease ran out
OUT_OF_REACH_CODE = 75  # the driver is gone: there is nobody to tell anything


def main(heard: int, longest_silence: float) -> int:
    """Starts the supervisor, waits for its end, and tells of an end that nobody else can tell of."""
    os.set_inheritable(heard, False)
    if os.fork():
        return 0
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # Spark's daemon ignores it, which a process inherits
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    life, shown = os.pipe()
    supervisor = os.fork()
    if not supervisor:
        os.close(life)
        _be(lambda: _supervise(heard, shown))
    os.close(shown)
    silence = Silence(life, longest_silence)
    code = _wait(supervisor, silence)
    try:
        if silence.is_too_long:
            _tell(
                f"its supervisor had been silent for {silence.seconds:.0f} s (lease), so {KILLED}",
                LAST_CALL_SECONDS,
            )
        elif code not in (0, OUT_OF_REACH_CODE):
            _tell(f"its supervisor {_end(code)}")
    finally:
        _collect_adopted()
        if silence.is_too_long:
            _sweep()
    return 0


def _be(program: Callable[[], int]) -> None:
    """Ends this process, a forked one, with what a program returns, whatever threads it leaves."""
    code = 1
    try:
        code = program()
    except BaseException:  # noqa: BLE001  the edge of a process
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _wait(supervisor: int, silence: Silence) -> int:
    """Returns the exit code of the supervisor, which is killed if it hangs."""
    while silence.pipes and not silence.is_too_long:  # the pipe ends with the supervisor
        ready, _, _ = select.select(silence.pipes, [], [], LOOK_AT_PARENT_SECONDS)
        silence.listen(ready)
    if silence.is_too_long:
        os.kill(supervisor, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(supervisor, 0)[1])


def _supervise(heard: int, shown: int) -> int:
    with _signs_of_life(shown):
        from hopyard.worker.detach.node import supervise
        from hopyard.worker.detach.start import Orders

        with open(0, "rb") as given:
            orders = Orders.read(given)
        os.open(os.devnull, os.O_RDONLY)  # takes the place of standard input
        return 0 if supervise(orders, heard) else OUT_OF_REACH_CODE


@contextmanager
def _signs_of_life(shown: int) -> Iterator[None]:
    """Gives a context in which a thread shows, on a pipe, that this process goes on."""
    os.set_blocking(shown, False)
    over = threading.Event()
    thread = threading.Thread(target=_show_life, args=(shown, over), name="hopyard-life", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _show_life(shown: int, over: threading.Event) -> None:
    with suppress(BrokenPipeError):  # who waits for this process was killed
        while not over.wait(LOOK_AT_PARENT_SECONDS):
            with suppress(BlockingIOError):  # it is stopped, and has not read the last ones
                os.write(shown, b".")


def _end(code: int) -> str:
    from hopyard.worker.child import Exit

    return str(Exit(code=code))


def _tell(reason: str, seconds: float | None = None) -> None:
    from hopyard.worker.detach.report_lost import tell
    from hopyard.worker.detach.start import Orders, last_lines

    with open(0, "rb", closefd=False) as given:
        given.seek(0)
        orders = Orders.read(given)
    tell(orders, reason, last_lines(sys.stdout.fileno()), seconds=seconds)


def _collect_adopted() -> None:
    """Waits for what the supervisor left, which is its warden: that ends by itself, and somebody has to collect it."""
    # whoever has no children is told so by an error
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _sweep() -> None:
    """Removes the scratch folder that is left where a warden has ended before its supervisor."""
    from hopyard.scratch import scratch_folder

    with scratch_folder("sweep"):  # which sweeps those of dead owners first
        pass


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))
