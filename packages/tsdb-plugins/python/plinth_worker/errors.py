"""Exceptions that plugins can name."""


class QueryError(Exception):
    """A query could not be planned or run."""


QueryError.__module__ = "influxdb3_py_api"
