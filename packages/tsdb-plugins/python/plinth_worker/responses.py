"""Converts the return value of a request plugin to an HTTP response."""

import json
import re

MAX_BODY_BYTES = 64 * 1024 * 1024
_HTML = "text/html"
_JSON = "application/json"
# What HTTP calls a token.
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_DROPPED = frozenset(
    "connection content-length keep-alive proxy-authenticate proxy-authorization te trailer "
    "transfer-encoding upgrade".split()
)


class ResponseInvalid(Exception):
    """The value cannot be sent; the message is the error text of the response."""


def answer_for(value):
    """Returns `(status, headers, body)`: int, list of name and value, bytes. A value that cannot be sent becomes a 500 with the reason."""
    try:
        return _to_response(value)
    except ResponseInvalid as error:
        text = json.dumps({"error": str(error), "data": {}}, separators=(",", ":"))
        return 500, [["content-type", _JSON]], text.encode()


def _to_response(value):
    status, headers, body = _convert(value)
    if not 200 <= status <= 999:
        raise ResponseInvalid(f"invalid status code: {status}")
    if len(body) > MAX_BODY_BYTES:
        raise ResponseInvalid(f"response body exceeds the limit of {MAX_BODY_BYTES} bytes")
    kept = [pair for pair in headers.values() if pair[0].lower() not in _DROPPED]
    return status, [[name, _sendable(text)] for name, text in kept], body


def _convert(value):
    flask = getattr(value, "__flask_response__", None)
    if callable(flask) and flask() is True:
        return _flask(value)
    if isinstance(value, tuple) and 1 <= len(value) <= 3:
        return _tuple(value)
    if isinstance(value, str):
        return 200, _headers(_HTML), value.encode()
    if isinstance(value, (dict, list)):
        return 200, _headers(_JSON), json.dumps(value).encode()
    if isinstance(value, (bytes, bytearray)):
        return 200, _headers("application/octet-stream"), bytes(value)
    try:
        items = iter(value)
    except TypeError:
        raise ResponseInvalid("Unsupported return type from Python function") from None
    return 200, _headers(_HTML), _joined(items)


def _flask(value):
    data = value.get_data()
    if not isinstance(data, str):
        raise ResponseInvalid("get_data() must return a string")
    return _status(value.status_code), _merged({}, value.headers), data.encode()


def _tuple(value):
    body, *rest = value
    if isinstance(body, str):
        headers, data = _headers(_HTML), body.encode()
    elif isinstance(body, (dict, list)):
        headers, data = _headers(_JSON), json.dumps(body).encode()
    else:
        headers, data = _headers("text/plain"), str(body).encode()
    status = 200
    if rest and isinstance(rest[0], int):
        status = _status(rest[0])
    elif rest and isinstance(rest[0], dict):
        headers = _merged(headers, rest[0])
    if len(rest) == 2:
        if not isinstance(rest[1], dict):
            raise ResponseInvalid("expected a dictionary in header item")
        headers = _merged(headers, rest[1])
    return status, headers, data


def _joined(items):
    parts = []
    size = 0
    for item in items:
        if isinstance(item, str):
            part = item.encode()
        elif isinstance(item, (bytes, bytearray)):
            part = bytes(item)
            try:
                part.decode()
            except UnicodeDecodeError:
                continue
        else:
            continue
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise ResponseInvalid(f"response body exceeds the limit of {MAX_BODY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _status(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise ResponseInvalid("the status code must be an integer")
    return value


def _headers(content_type):
    return {"content-type": ("content-type", content_type)}


def _merged(headers, more):
    """Later headers win; names are case-insensitive."""
    merged = dict(headers)
    for name, value in more.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ResponseInvalid("header names and values must be strings")
        if _HEADER_NAME.fullmatch(name) is None:
            raise ResponseInvalid(f"invalid header name: {name}")
        merged[name.lower()] = (name, value)
    return merged


def _sendable(text):
    is_valid = all(character == "\t" or " " <= character <= "\xff" for character in text)
    return text if is_valid and "\x7f" not in text else ""
