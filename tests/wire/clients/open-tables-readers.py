"""Reads published tables with PyIceberg and ClickHouse (chdb). Reads lines of JSON (what, address, token, namespace, table) and prints a line for each."""

import json
import os
import sys

import chdb
import pyarrow.compute as pc
from pyiceberg.catalog import load_catalog

os.chdir("/")  # chdb reads only files below the working directory
COLUMNS = "count(), sum(i), sum(f), min(t), max(t), min(i), max(i), count(s), max(tag), max(Tag__2)"
held = {}


def ints(column):
    return pc.cast(column, "int64")


def of_arrow(found):
    time = ints(found.column("time"))
    values = [
        found.num_rows,
        pc.sum(found.column("i")),
        pc.sum(found.column("f")),
        pc.min(time),
        pc.max(time),
        pc.min(found.column("i")),
        pc.max(found.column("i")),
        pc.count(found.column("s")),
        pc.max(found.column("tag")),
        pc.max(found.column("Tag__2")),
    ]
    return [text_of(value if isinstance(value, int) else value.as_py()) for value in values]


def text_of(value):
    """Integers as text, because JavaScript would round them."""
    return str(value) if isinstance(value, int) else value


for line in sys.stdin:
    given = json.loads(line)
    catalog = load_catalog(
        "plinth", type="rest", uri=f"{given['address']}/iceberg", token=given["token"]
    )
    name = f"{given['namespace']}.{given['table']}"
    if given["what"] == "hold":
        held[name] = catalog.load_table(name)
        answer = {"held": name}
    elif given["what"] == "held":
        answer = {"pyiceberg": of_arrow(held[name].scan().to_arrow())}
    elif given["what"] == "columns":
        table = catalog.load_table(name)
        folder = table.location().replace("file://", "")
        described = chdb.query(f"DESCRIBE icebergLocal('{folder}')", "JSONCompact")
        answer = {
            "pyiceberg": table.scan().to_arrow().column_names,
            "clickhouse": [column[0] for column in json.loads(described.bytes())["data"]],
        }
    else:
        table = catalog.load_table(name)
        folder = table.location().replace("file://", "")
        text = f"SELECT {COLUMNS} FROM (SELECT *, toUnixTimestamp64Nano(time) AS t FROM icebergLocal('{folder}'))"
        settings = " SETTINGS output_format_json_quote_64bit_integers = 1"
        result = json.loads(chdb.query(text + settings, "JSONCompact").bytes())
        answer = {"pyiceberg": of_arrow(table.scan().to_arrow()), "clickhouse": result["data"][0]}
    print(json.dumps(answer), flush=True)
