"""The main program of a supervisor that leaves its Spark task: ``python -m hopyard.worker.detach.main <fd>``.

It becomes three processes. The first ends at once, so that the others are no children of who started it. The second is
small and waits for the third, the supervisor. If that is killed, the second one tells the driver, which would
otherwise learn it from a lease that runs out.

Standard input is the file with the orders, standard output a file for what a supervisor has to say, and ``fd`` a pipe
to the Spark task, which waits until all nodes have arrived. Only the standard library is loaded before the
second fork.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from hopyard.worker.warden import PR_SET_CHILD_SUBREAPER, prctl

OUT_OF_REACH_CODE = 75  # the driver is gone: there is nobody to tell anything


def main(heard: int) -> int:
    """Starts the supervisor, waits for its end, and tells of an end that nobody else can tell of."""
    os.set_inheritable(heard, False)
    if os.fork():
        return 0
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # Spark's daemon ignores it, which a process inherits
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    supervisor = os.fork()
    if not supervisor:
        _be(lambda: _supervise(heard))
    code = os.waitstatus_to_exitcode(os.waitpid(supervisor, 0)[1])
    if code not in (0, OUT_OF_REACH_CODE):
        _mourn(code)
    _collect_adopted()
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


def _supervise(heard: int) -> int:
    from hopyard.worker.detach.node import supervise
    from hopyard.worker.detach.start import Orders

    with open(0, "rb") as given:
        orders = Orders.read(given)
    os.open(os.devnull, os.O_RDONLY)  # takes the place of standard input
    return 0 if supervise(orders, heard) else OUT_OF_REACH_CODE


def _mourn(code: int) -> None:
    from hopyard.worker.child import Exit
    from hopyard.worker.detach.report_lost import tell
    from hopyard.worker.detach.start import Orders, last_lines

    with open(0, "rb", closefd=False) as given:
        given.seek(0)
        orders = Orders.read(given)
    tell(orders, f"its supervisor {Exit(code=code)}", last_lines(sys.stdout.fileno()))


def _collect_adopted() -> None:
    """Waits for what the supervisor left, which is its warden: that ends by itself, and somebody has to collect it."""
    # whoever has no children is told so by an error
    with suppress(ChildProcessError):
        while True:
            os.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
