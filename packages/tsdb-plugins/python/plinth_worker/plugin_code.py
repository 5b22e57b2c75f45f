"""Finds the entry point of a plugin: one file, one folder with `__init__.py`, or source that came over the wire."""

import builtins
import importlib
import os
import sys
import threading

ENTRY_POINTS = {
    "writes": ("process_writes", "process_writes(influxdb3_local, table_batches, args=None)"),
    "schedule": (
        "process_scheduled_call",
        "process_scheduled_call(influxdb3_local, call_time, args=None)",
    ),
    "request": (
        "process_request",
        "process_request(influxdb3_local, query_parameters, request_headers, request_body, "
        "args=None) -> Tuple[str, Optional[Dict[str, str]]]",
    ),
}
_import_lock = threading.RLock()


class PluginUnusable(Exception):
    """The plugin has no such entry point or cannot be imported; the message is complete."""


def entry_point(plugin, kind):
    """The function of `plugin` for `kind`. Raises what its code raises, or `PluginUnusable`."""
    name, signature = ENTRY_POINTS[kind]
    found = plugin.names().get(name)
    if found is None:
        raise PluginUnusable(
            f"the {name} function is not present in the plugin. Should be defined as: {signature}"
        )
    return found


class SourcePlugin:
    """Code that is executed anew for every run: its globals do not survive, its compiled form does."""

    def __init__(self, source):
        self._source = source
        self._code = None

    def names(self):
        if self._code is None:
            self._code = compile(self._source, "<string>", "exec", dont_inherit=True)
        return _executed(self._code)


class FilePlugin:
    """One file, read again when it was changed; when that fails, the last good source is used."""

    def __init__(self, path):
        self._path = path
        self._stamp = None
        self._source = None
        self._code = None

    def names(self):
        self._read()
        if self._code is None:
            self._code = compile(self._source, "<string>", "exec", dont_inherit=True)
        return _executed(self._code)

    def _read(self):
        try:
            status = os.stat(self._path)
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp == self._stamp:
                return
            with open(self._path, encoding="utf-8") as file:
                source = file.read()
        except (OSError, UnicodeDecodeError):
            if self._source is None:
                raise
            return
        self._stamp, self._source, self._code = stamp, source, None


class FolderPlugin:
    """A package, imported once: its globals survive until one of its files changes."""

    def __init__(self, path):
        self._path = path
        self._name = os.path.basename(path)
        self._stamp = None

    def names(self):
        with _import_lock:
            stamp = self._newest()
            if stamp != self._stamp:
                self._forget()
                self._stamp = stamp
            return vars(self._module())

    def _module(self):
        loaded = sys.modules.get(self._name)
        if loaded is not None:
            return loaded
        parent = os.path.dirname(self._path)
        sys.path.insert(0, parent)
        try:
            importlib.invalidate_caches()
            return importlib.import_module(self._name)
        except Exception as error:
            self._stamp = None
            raise PluginUnusable(
                f"Failed to import plugin module '{self._name}': {type(error).__qualname__}: {error}\n"
                "Hint: Check for syntax errors or missing dependencies in Python files."
            ) from error
        finally:
            sys.path.remove(parent)

    def _forget(self):
        for name in list(sys.modules):
            if name == self._name or name.startswith(self._name + "."):
                del sys.modules[name]

    def _newest(self):
        newest = (0, 0)
        for folder, folders, files in os.walk(self._path):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for file in files:
                if file.endswith(".py"):
                    status = os.lstat(os.path.join(folder, file))
                    newest = max(newest, (status.st_mtime_ns, status.st_size))
        return newest


def _executed(code):
    names = {"__builtins__": builtins}
    exec(code, names)
    return names
