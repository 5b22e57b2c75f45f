"""Frames between the server and a worker: docs/formats/plugin-frames.md."""

import json
import struct

MAX_FRAME_BYTES = 256 * 1024 * 1024
_LENGTHS = struct.Struct("<II")


class FrameTooLarge(Exception):
    """A frame would exceed `MAX_FRAME_BYTES`."""


def encode(header, body=b""):
    """The bytes of one frame. Raises `FrameTooLarge`."""
    text = json.dumps(header).encode()
    size = 4 + len(text) + len(body)
    if size > MAX_FRAME_BYTES:
        raise FrameTooLarge(f"a message of {size} bytes exceeds the limit of {MAX_FRAME_BYTES} bytes")
    return _LENGTHS.pack(size, len(text)) + text + bytes(body)


def read(stream):
    """The next `(header, body)` of a buffered binary stream, or None at its end."""
    lengths = stream.read(8)
    if len(lengths) < 8:
        return None
    size, header_size = _LENGTHS.unpack(lengths)
    rest = stream.read(size - 4)
    if len(rest) < size - 4:
        return None
    view = memoryview(rest)
    return json.loads(rest[:header_size].decode()), view[header_size:]
