"""Reads published tables with PyIceberg and ClickHouse (chdb). Reads lines of JSON (what, address, token, namespace, table) and prints a line for each.

With `bucket` (key, secret), tables are in a bucket. The catalog names its address."""

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


def clickhouse_source(table, bucket):
    location = table.location()
    if bucket is None:
        return f"icebergLocal('{location.replace('file://', '')}')"
    address = location.replace("s3://", table.io.properties["s3.endpoint"] + "/")
    return f"icebergS3('{address}', '{bucket['key']}', '{bucket['secret']}')"


def objects_of(table):
    """Addresses of all objects that the newest metadata file needs."""
    yield table.metadata_location
    for snapshot in table.snapshots():
        yield snapshot.manifest_list
        for manifest in snapshot.manifests(table.io):
            yield manifest.manifest_path
            for entry in manifest.fetch_manifest_entry(table.io):
                yield entry.data_file.file_path


for line in sys.stdin:
    given = json.loads(line)
    bucket = given.get("bucket")
    login = bucket and {"s3.access-key-id": bucket["key"], "s3.secret-access-key": bucket["secret"]}
    catalog = load_catalog(
        "plinth",
        **{"type": "rest", "uri": f"{given['address']}/iceberg", "token": given["token"]},
        **(login or {}),
    )
    name = f"{given['namespace']}.{given['table']}"
    if given["what"] == "hold":
        held[name] = catalog.load_table(name)
        answer = {"held": name}
    elif given["what"] == "held":
        answer = {"pyiceberg": of_arrow(held[name].scan().to_arrow())}
    elif given["what"] == "count":
        found = catalog.load_table(name).scan(selected_fields=("i",)).to_arrow().column("i")
        answer = {"pyiceberg": [len(found), sum(found.to_pylist())]}
    elif given["what"] == "objects":
        answer = {"objects": sorted(set(objects_of(catalog.load_table(name))))}
    elif given["what"] == "columns":
        table = catalog.load_table(name)
        source = clickhouse_source(table, bucket)
        described = chdb.query(f"DESCRIBE {source}", "JSONCompact")
        answer = {
            "pyiceberg": table.scan().to_arrow().column_names,
            "clickhouse": [column[0] for column in json.loads(described.bytes())["data"]],
        }
    else:
        table = catalog.load_table(name)
        source = clickhouse_source(table, bucket)
        text = f"SELECT {COLUMNS} FROM (SELECT *, toUnixTimestamp64Nano(time) AS t FROM {source})"
        settings = " SETTINGS output_format_json_quote_64bit_integers = 1"
        result = json.loads(chdb.query(text + settings, "JSONCompact").bytes())
        answer = {"pyiceberg": of_arrow(table.scan().to_arrow()), "clickhouse": result["data"][0]}
    print(json.dumps(answer), flush=True)
