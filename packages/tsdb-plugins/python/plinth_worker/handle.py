"""`influxdb3_local`: what a plugin sees of the server."""

import math
import pickle
import threading
import time

from .errors import QueryError

MAX_LOG_TEXT_BYTES = 64 * 1024
_SWEEP_INTERVAL_SEC = 10
_MISSING = object()


class CacheStore:
    """Values of one namespace with their ends, by reference. Safe for several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._entries = {}
        self._swept_sec = 0.0

    def put(self, key, value, ttl_sec):
        end_sec = math.inf if ttl_sec is None else time.monotonic() + ttl_sec
        with self._lock:
            self._entries[key] = (value, end_sec)

    def get(self, key):
        """The value, or `_MISSING`."""
        with self._lock:
            value, end_sec = self._entries.get(key, (_MISSING, math.inf))
            if end_sec > time.monotonic():
                return value
            del self._entries[key]
            return _MISSING

    def delete(self, key):
        with self._lock:
            _, end_sec = self._entries.pop(key, (None, -math.inf))
            return end_sec > time.monotonic()

    def sweep(self):
        now_sec = time.monotonic()
        with self._lock:
            if now_sec - self._swept_sec < _SWEEP_INTERVAL_SEC:
                return
            self._swept_sec = now_sec
            ended = [key for key, (_, end_sec) in self._entries.items() if end_sec <= now_sec]
            for key in ended:
                del self._entries[key]


class SharedGlobals:
    """The namespace of all triggers when each runs in a process of its own: the server keeps pickled copies."""

    def __init__(self, run):
        self._run = run

    def put(self, key, value, ttl_sec):
        own = self._run.unshared_globals
        try:
            pickled = pickle.dumps(value, protocol=4)
        except Exception as error:  # whatever a class does while it is pickled
            own.put(key, value, ttl_sec)
            self._run.log("WARN", f"global cache value '{key}' stays in this trigger: {error}")
            return
        own.delete(key)
        self._run.request({"op": "gput", "key": key, "ttl": ttl_sec}, pickled)

    def get(self, key):
        value = self._run.unshared_globals.get(key)
        if value is not _MISSING:
            return value
        answer, body = self._run.request({"op": "gget", "key": key})
        return pickle.loads(body) if answer.get("found") else _MISSING

    def delete(self, key):
        was_own = self._run.unshared_globals.delete(key)
        answer, _ = self._run.request({"op": "gdel", "key": key})
        return was_own or bool(answer.get("found"))


class Cache:
    """Values that outlive a run."""

    __slots__ = ("__run__",)

    def __init__(self, run):
        self.__run__ = run

    def put(self, key, value, ttl=None, use_global=None):
        """Keeps `value` under `key`, for `ttl` seconds when given."""
        ttl_sec = self.__run__.default_ttl_sec if ttl is None else float(ttl)
        if ttl_sec is not None and not 0 <= ttl_sec <= 2**63:
            raise ValueError("ttl must be a number of seconds that is not negative")
        self.__run__.cache_of(use_global).put(_key(key), value, ttl_sec)

    def get(self, key, default=None, use_global=None):
        value = self.__run__.cache_of(use_global).get(_key(key))
        return default if value is _MISSING else value

    def delete(self, key, use_global=None):
        """True if the key was there."""
        return self.__run__.cache_of(use_global).delete(_key(key))


def _key(key):
    if not isinstance(key, str):
        raise TypeError(f"cache key must be a string, not {type(key).__name__}")
    return key


class Handle:
    """First argument of every entry point. Its public attributes are exactly these."""

    __slots__ = ("__run__", "__cache__")

    def __init__(self, run):
        self.__run__ = run
        self.__cache__ = Cache(run)

    def info(self, *args):
        self.__run__.log("INFO", _text(args))

    def warn(self, *args):
        self.__run__.log("WARN", _text(args))

    def error(self, *args):
        self.__run__.log("ERROR", _text(args))

    def query(self, query, args=None, database=None):
        """Rows of a SQL query as dicts, from the trigger's database by default."""
        run = self.__run__
        if not isinstance(query, str):
            raise TypeError(f"query must be a string, not {type(query).__name__}")
        if args is not None:
            if not isinstance(args, dict):
                raise TypeError(f"args must be a dict, not {type(args).__name__}")
            for name, value in args.items():
                if not isinstance(name, str) or not isinstance(value, str):
                    raise TypeError("names and values of query args must be strings")
        header = {"op": "query", "sql": query, "params": args, "db": database or run.db}
        answer, body = run.request(header)
        if not answer["ok"]:
            raise _raised(answer["err"])
        return run.rows_with_none(answer["cols"], answer["n"], body)

    def write(self, line_builder):
        """Queues lines for the trigger's database; they are written when the run has ended well."""
        self.__run__.queue(self.__run__.db, line_builder.build())

    def write_to_db(self, db_name, line_builder):
        self.__run__.queue(_name(db_name), line_builder.build())

    def write_sync(self, line_builder, no_sync):
        """Writes now; with `no_sync` without waiting until it is durable."""
        self.__run__.write_now(self.__run__.db, line_builder.build(), no_sync)

    def write_sync_to_db(self, db_name, line_builder, no_sync):
        self.__run__.write_now(_name(db_name), line_builder.build(), no_sync)

    @property
    def cache(self):
        self.__run__.sweep_caches()
        return self.__cache__


def _name(db_name):
    if not isinstance(db_name, str):
        raise TypeError(f"db_name must be a string, not {type(db_name).__name__}")
    return db_name


def _text(args):
    text = " ".join(str(arg) for arg in args)
    if len(text) <= MAX_LOG_TEXT_BYTES // 4:
        return text
    return text.encode(errors="replace")[:MAX_LOG_TEXT_BYTES].decode(errors="ignore")


def _raised(failure):
    kind = {"QueryError": QueryError, "ValueError": ValueError}.get(failure["kind"], Exception)
    return kind(failure["message"])
