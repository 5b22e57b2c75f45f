"""One call of a plugin's entry point."""

import datetime
import queue
import threading
import time
import traceback

from . import columns, responses
from .handle import Handle
from .plugin_code import PluginUnusable, entry_point

CANCELLED = "influxdb3 is shutting down; aborting plugin execution"
_GRACE_SEC = 0.2
_REPEAT_SEC = 1.0


class Run:
    """State of one call while its thread works; the reader thread passes responses and cancellations to it."""

    rows_with_none = staticmethod(columns.rows_with_none)

    def __init__(self, call, body, worker):
        self.id = call["id"]
        self.db = call["db"]
        self._call = call
        self._body = body
        self._worker = worker
        # A queue for each pending request: threads of a run may send requests at the same time.
        self._waiting = {}
        self._is_cancelled = False
        self._thread_id = None
        # The sync ones come first, then those of the queue, each in order.
        self._written = []
        self._queued = []
        cache = call.get("cache") or {}
        self._namespace = cache.get("ns", "")
        self.default_ttl_sec = cache.get("default_ttl")

    # What the handle needs.

    @property
    def unshared_globals(self):
        return self._worker.cache("unshared")

    def cache_of(self, use_global):
        if not use_global:
            return self._worker.cache("trigger", self._namespace)
        if self._call.get("dry"):
            return self._worker.cache("dry", self._namespace)
        return self._worker.globals_for(self)

    def sweep_caches(self):
        self._worker.sweep_caches()

    def log(self, level, text):
        self._raise_if_cancelled()
        self._worker.send({"t": "log", "id": self.id, "level": level, "text": text})

    def queue(self, db, lines):
        self._raise_if_cancelled()
        self._queued.append((db, lines.encode()))

    def write_now(self, db, lines, no_sync):
        if self._call.get("dry"):
            self._raise_if_cancelled()
            self._written.append((db, lines.encode()))
            return
        answer, _ = self.request({"op": "write", "db": db, "no_sync": bool(no_sync)}, lines.encode())
        if not answer["ok"]:
            raise Exception(answer["err"]["message"])

    def request(self, header, body=b""):
        """Sends a request to the server on behalf of this run and returns the response."""
        self._raise_if_cancelled()
        request_id = self._worker.next_request_id()
        answers = self._waiting[request_id] = queue.SimpleQueue()
        try:
            self._worker.send({"t": "cb", "id": self.id, "cb": request_id, **header}, body)
            answer = answers.get()
        finally:
            del self._waiting[request_id]
        self._raise_if_cancelled()
        return answer

    def _raise_if_cancelled(self):
        if self._is_cancelled:
            raise KeyboardInterrupt(CANCELLED)

    # What the reader thread calls.

    def answer(self, header, body):
        answers = self._waiting.get(header["cb"])
        # A run that was interrupted does not wait for its response.
        if answers is not None:
            answers.put((header, body))

    def cancel(self):
        if self._is_cancelled:
            return
        self._is_cancelled = True
        for answers in list(self._waiting.values()):
            answers.put(None)
        threading.Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self):
        """Ends loops of Python code; a blocking native call ends with the process."""
        time.sleep(_GRACE_SEC)
        while self._worker.while_running(self, self._raise_in_thread):
            time.sleep(_REPEAT_SEC)

    def _raise_in_thread(self):
        if self._thread_id is not None:
            _set_pending_exception(self._thread_id, KeyboardInterrupt)

    # The run's own thread.

    def work(self):
        self._thread_id = threading.get_ident()
        try:
            header, body = self._outcome()
        except BaseException as error:  # an interruption that came while a failure was put into words
            header, body = _failed(error), b""
        self._leave()
        self._worker.send_outcome({"t": "done", "id": self.id, **header}, body)

    def _leave(self):
        """Disables interruption of this thread; a pending interruption is consumed or withdrawn."""
        while True:
            try:
                self._worker.ended(self)
                if self._is_cancelled:
                    _set_pending_exception(self._thread_id, None)
                return
            except KeyboardInterrupt:
                continue

    def _outcome(self):
        try:
            plugin = self._worker.plugin(self._call["trigger"])
            function = entry_point(plugin, self._call["kind"])
        except BaseException as error:
            return _failed(error, is_inside=False), b""
        try:
            value = self._invoke(function)
            if self._call["kind"] != "request":
                return self._done()
            status, headers, body = responses.answer_for(value)
            return self._done({"status": status, "headers": headers}, body)
        except BaseException as error:  # SystemExit and KeyboardInterrupt are failures of the run
            return _failed(error), b""

    def _invoke(self, function):
        call, handle = self._call, Handle(self)
        args = call.get("args")
        if call["kind"] == "writes":
            return function(handle, self._table_batches(), args)
        if call["kind"] == "schedule":
            return function(handle, datetime.datetime.fromtimestamp(call["time"]), args)
        return function(handle, call["query"], call["headers"], bytes(self._body), args)

    def _table_batches(self):
        return [
            {
                "table_name": batch["table"],
                "rows": columns.rows_without_absent(batch["cols"], batch["n"], self._body),
            }
            for batch in self._call["batches"]
        ]

    def _done(self, response=None, response_body=b""):
        by_db = {}
        for db, lines in self._written + self._queued:
            by_db.setdefault(db, []).append(lines)
        writes = [{"db": db, "sizes": [len(part) for part in parts]} for db, parts in by_db.items()]
        body = b"".join([part for parts in by_db.values() for part in parts] + [response_body])
        header = {"ok": True, "writes": writes}
        if response is not None:
            header["response"] = response
        return header, body


def _set_pending_exception(thread_id, kind):
    import ctypes  # only cancelled runs need it

    pending = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), pending)


def _failed(error, is_inside=True):
    name, message = type(error).__qualname__, _message(error)
    is_ours = isinstance(error, PluginUnusable)
    return {
        "ok": False,
        "err": {
            "type": name,
            "message": message,
            "text": message if is_ours else f"{name}: {message}",
            "traceback": "" if is_ours else _traceback(error),
            "inside": is_inside,
        },
    }


def _message(error):
    try:
        return str(error)
    except BaseException as second:  # a __str__ of the plugin's own
        return f"<unprintable: {type(second).__qualname__}>"


def _traceback(error):
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))[-65536:]
    except BaseException as second:
        return f"<no traceback: {type(second).__qualname__}>"
