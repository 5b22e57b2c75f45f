"""Builds lines of line protocol field by field.

Plugins reach `LineBuilder` as a builtin name; its exceptions as builtins and as module `influxdb3_py_api`.
"""


class InfluxDBError(Exception):
    """Base class of all errors in a line."""


class InvalidMeasurementError(InfluxDBError):
    """The measurement's name cannot be written."""


class InvalidKeyError(InfluxDBError):
    """The key of a tag or field cannot be written."""


class InvalidLineError(InfluxDBError):
    """The line cannot be written."""


_FORBIDDEN = ((" ", "spaces"), (",", "commas"), ("=", "equals signs"))


def _checked(key, kind):
    if not key:
        raise InvalidKeyError(f"{kind} key cannot be empty")
    for character, name in _FORBIDDEN:
        if character in key:
            raise InvalidKeyError(f"{kind} key '{key}' cannot contain {name}")
    return key


def _escaped(text):
    for character in ("\\", ",", "=", " "):
        text = text.replace(character, "\\" + character)
    return text


class LineBuilder:
    """One line. Setters return the builder; a key that is set again keeps its place and takes the new value."""

    def __init__(self, measurement):
        if " " in measurement:
            raise InvalidMeasurementError("Measurement name cannot contain spaces")
        self.measurement = measurement
        self.tags = {}
        self.fields = {}
        self._timestamp_ns = None

    def tag(self, key, value):
        self.tags[_checked(key, "tag")] = str(value)
        return self

    def int64_field(self, key, value):
        return self._field(key, f"{value}i")

    def uint64_field(self, key, value):
        if value < 0:
            raise ValueError(f"uint64 field '{key}' cannot be negative")
        return self._field(key, f"{value}u")

    def float64_field(self, key, value):
        """An integral value keeps a decimal; NaN and infinity pass and are refused by the write."""
        is_integral = value % 1 == 0
        return self._field(key, f"{int(value)}.0" if is_integral else str(value))

    def string_field(self, key, value):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return self._field(key, f'"{escaped}"')

    def bool_field(self, key, value):
        return self._field(key, "t" if value else "f")

    def time_ns(self, timestamp_ns):
        self._timestamp_ns = timestamp_ns
        return self

    def build(self):
        head = self.measurement.replace(",", "\\,").replace(" ", "\\ ")
        if self.tags:
            head += "," + ",".join(f"{key}={_escaped(value)}" for key, value in self.tags.items())
        if not self.fields:
            raise InvalidLineError(f"At least one field is required: {head}")
        line = head + " " + ",".join(f"{_escaped(key)}={text}" for key, text in self.fields.items())
        return line if self._timestamp_ns is None else f"{line} {self._timestamp_ns}"

    def _field(self, key, text):
        self.fields[_checked(key, "field")] = text
        return self
