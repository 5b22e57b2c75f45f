"""Process that runs plugins for the server. The protocol comes over file descriptor 3 (docs/formats/plugin-frames.md).

The main thread only reads frames; each call runs in a thread of its own.
"""

import builtins
import os
import queue
import socket
import sys
import threading
import types

from . import frames, line_builder, processes
from .errors import QueryError
from .handle import CacheStore, SharedGlobals
from .plugin_code import FilePlugin, FolderPlugin, PluginUnusable, SourcePlugin
from .run import Run

_CHANNEL_FD = 3


class RunThreads:
    """Threads that wait for work: starting one takes longer than a short run."""

    _MOST_IDLE = 4

    def __init__(self):
        self._lock = threading.Lock()
        self._idle = []

    def run(self, work):
        """Calls `work`, which does not raise, in a thread of its own. Raises `RuntimeError` when there can be no more."""
        with self._lock:
            waiting = self._idle.pop() if self._idle else None
        if waiting is not None:
            waiting.put(work)
        else:
            threading.Thread(target=self._serve, args=(work,), daemon=True).start()

    def _serve(self, work):
        own = queue.SimpleQueue()
        while True:
            work()
            del work  # What a run held must not stay until the next.
            with self._lock:
                if len(self._idle) >= self._MOST_IDLE:
                    return
                self._idle.append(own)
            work = own.get()


class Worker:
    def __init__(self, channel):
        self._reader = channel.makefile("rb", buffering=1 << 16)
        self._channel = channel
        self._send_lock = threading.Lock()
        self._runs_lock = threading.Lock()
        self._runs = {}
        self._plugins = {}
        self._caches = {}
        self._last_request_id = 0
        self._shares_process = False
        self._threads = RunThreads()

    def serve(self):
        """Reads frames until the server is gone."""
        while True:
            frame = frames.read(self._reader)
            if frame is None:
                # Threads of plugins must not hold the process, and nothing they started may stay behind.
                processes.end_all()
            header, body = frame
            getattr(self, "_on_" + header["t"])(header, body)

    # Frames of the server.

    def _on_init(self, header, _body):
        limits = header.get("limits") or {}
        memory_bytes = limits.get("memory_bytes")
        if memory_bytes:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        self._shares_process = header.get("isolation") == "shared"
        version = ".".join(str(part) for part in sys.version_info[:3])
        ready = {"t": "ready", "pid": os.getpid(), "version": version}
        self.send({**ready, "executable": sys.executable, "prefix": sys.prefix})

    def _on_load(self, header, body):
        kind, trigger = header["kind"], header["trigger"]
        if kind == "source":
            self._plugins[trigger] = SourcePlugin(bytes(body).decode())
        else:
            plugin = FilePlugin if kind == "file" else FolderPlugin
            self._plugins[trigger] = plugin(header["path"])

    def _on_call(self, header, body):
        run = Run(header, body, self)
        with self._runs_lock:
            self._runs[run.id] = run
        try:
            self._threads.run(run.work)
        except RuntimeError as error:  # no more threads
            self.ended(run)
            text = f"RuntimeError: {error}"
            failure = {"type": "RuntimeError", "message": str(error), "text": text, "traceback": "", "inside": False}
            self.send({"t": "done", "id": run.id, "ok": False, "err": failure})

    def _on_res(self, header, body):
        with self._runs_lock:
            run = self._runs.get(header["id"])
        if run is not None:
            run.answer(header, body)

    def _on_cancel(self, header, _body):
        with self._runs_lock:
            wanted = header["id"]
            runs = [run for run in self._runs.values() if wanted in ("all", run.id)]
        for run in runs:
            run.cancel()

    def _on_drop(self, header, _body):
        with self._runs_lock:
            self._caches.pop(("trigger", header["ns"]), None)
        self._plugins.pop(header.get("trigger"), None)

    def _on_invalidate(self, _header, _body):
        import importlib

        importlib.invalidate_caches()

    def _on_stop(self, _header, _body):
        os._exit(0)

    # What runs need.

    def plugin(self, trigger):
        plugin = self._plugins.get(trigger)
        if plugin is None:
            raise PluginUnusable(f"plugin of trigger {trigger} is not loaded")
        return plugin

    def cache(self, *name):
        with self._runs_lock:
            return self._caches.setdefault(name, CacheStore())

    def globals_for(self, run):
        return self.cache("global") if self._shares_process else SharedGlobals(run)

    def sweep_caches(self):
        with self._runs_lock:
            caches = list(self._caches.values())
        for cache in caches:
            cache.sweep()

    def next_request_id(self):
        with self._runs_lock:
            self._last_request_id += 1
            return self._last_request_id

    def while_running(self, run, act):
        """Calls `act` unless `run` has ended, which it cannot do meanwhile. False: it has."""
        with self._runs_lock:
            if run.id not in self._runs:
                return False
            act()
            return True

    def ended(self, run):
        with self._runs_lock:
            self._runs.pop(run.id, None)

    def send(self, header, body=b""):
        frame = frames.encode(header, body)
        with self._send_lock:
            self._channel.sendall(frame)

    def send_outcome(self, header, body):
        try:
            self.send(header, body)
        except frames.FrameTooLarge as error:
            text = f"ValueError: {error}"
            failure = {"type": "ValueError", "message": str(error), "text": text, "traceback": "", "inside": False}
            self.send({"t": "done", "id": header["id"], "ok": False, "err": failure})
        except OSError:
            os._exit(0)


def offer_names():
    """Puts what plugins may use without an import into builtins and into module `influxdb3_py_api`."""
    api = types.ModuleType("influxdb3_py_api")
    for error in (
        line_builder.InfluxDBError,
        line_builder.InvalidMeasurementError,
        line_builder.InvalidKeyError,
        line_builder.InvalidLineError,
        line_builder.LineBuilder,
        QueryError,
    ):
        for place in (api, builtins, sys.modules["__main__"]):
            setattr(place, error.__name__, error)
    sys.modules["influxdb3_py_api"] = api


def main():
    """Serves until the server is gone."""
    processes.give_way()
    os.set_inheritable(_CHANNEL_FD, False)
    channel = socket.socket(fileno=_CHANNEL_FD)
    offer_names()
    worker = Worker(channel)
    processes.report_first_start(lambda: worker.send({"t": "forks"}))
    worker.serve()

