"""Plugin processes have a lower priority than the server and end with it. The server is notified of the first one."""

import os
import signal
import sys

_MARK_VARIABLE = "PLINTH_PLUGIN_WORKER"
_STARTS = frozenset("os.fork os.forkpty os.posix_spawn os.spawn os.system pty.spawn subprocess.Popen".split())
# What starts processes faster than they are found is met again in the next round.
_ROUNDS = 20
_NICENESS = 10


def give_way():
    """Lowers the priority of this process and its children, so that the server can respond and stop beside hundreds of busy plugins."""
    os.nice(_NICENESS)
    try:
        # A session of its own, as this is, is weighed as a whole where the kernel groups by session, whatever is in it.
        with open("/proc/self/autogroup", "w") as file:
            file.write(str(_NICENESS))
    except OSError:
        pass  # Not this kind of system, or another one has done so a moment ago.


def report_first_start(report):
    """Calls `report` before Python code starts the first process."""
    is_reported = False

    def hear(event, _args):
        nonlocal is_reported
        if event in _STARTS and not is_reported:
            is_reported = True
            report()

    sys.addaudithook(hear)


def end_all():
    """Ends this process, its group, and what carries its mark. Does not return."""
    mark = os.environb.get(_MARK_VARIABLE.encode())
    if mark:
        wanted = _MARK_VARIABLE.encode() + b"=" + mark + b"\0"
        for _round in range(_ROUNDS):
            found = _others_with(wanted)
            if not found:
                break
            for pid in found:
                _kill(pid)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _others_with(wanted):
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    own = str(os.getpid())
    return [int(name) for name in names if name.isdigit() and name != own and _has(name, wanted)]


def _has(name, wanted):
    try:
        with open(f"/proc/{name}/environ", "rb") as file:
            return wanted in file.read()
    except OSError:
        return False


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
