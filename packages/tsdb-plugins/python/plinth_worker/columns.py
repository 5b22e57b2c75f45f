"""Rows from columns: each is `{name, k, o, v?, d?, s?}` over the frame's body (docs/formats/plugin-frames.md)."""

_ABSENT = object()


def rows_without_absent(columns, count, body):
    """Row dicts; a value that is absent has no key."""
    names, values, has_absent = _read(columns, count, body)
    if not has_absent:
        return [dict(zip(names, row)) for row in zip(*values)]
    return [
        {name: value for name, value in zip(names, row) if value is not _ABSENT}
        for row in zip(*values)
    ]


def rows_with_none(columns, count, body):
    """Row dicts with every column; a value that is absent is None."""
    names, values, has_absent = _read(columns, count, body)
    if has_absent:
        values = [[None if value is _ABSENT else value for value in column] for column in values]
    return [dict(zip(names, row)) for row in zip(*values)]


def _read(columns, count, body):
    names = [column["name"] for column in columns]
    values = [_values(column, count, body) for column in columns]
    has_absent = False
    for index, column in enumerate(columns):
        if "v" not in column:
            continue
        has_absent = True
        start = column["v"]
        present = body[start : start + count]
        values[index] = [
            value if is_present else _ABSENT for value, is_present in zip(values[index], present)
        ]
    return names, values, has_absent


def _values(column, count, body):
    kind = column["k"]
    if kind == "s":
        return column["s"]
    start = column["o"]
    if kind == "b":
        return [byte != 0 for byte in body[start : start + count]]
    if kind == "d":
        texts = column["d"]
        codes = body[start : start + 4 * count].cast("i").tolist()
        return [texts[code] for code in codes]
    return body[start : start + 8 * count].cast({"f": "d", "i": "q", "u": "Q"}[kind]).tolist()
