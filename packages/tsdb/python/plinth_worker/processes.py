"""Processes that plugins start: the server is told of the first one, and all end when the server is gone."""

import os
import signal
import sys

_MARK_VARIABLE = "PLINTH_PLUGIN_WORKER"
_STARTS = frozenset("os.fork os.forkpty os.posix_spawn os.spawn os.system pty.spawn subprocess.Popen".split())
# What starts processes faster than they are found is met again in the next round.
_ROUNDS = 20


def tell_first_start(tell):
    """Calls `tell` before the first process is started by Python code."""
    is_told = False

    def hear(event, _args):
        nonlocal is_told
        if event in _STARTS and not is_told:
            is_told = True
            tell()

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
