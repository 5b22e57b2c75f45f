"""Writes rows to Plinth, and compares its sums with those of the readers of the published table. Called by run.sh."""

import json
import os
import sys
import time
import urllib.parse
import urllib.request

HOURS = 24
SENSORS = 50
START_SEC = 1735689600
TRINO_TIMEOUT_SEC = 120
YEARS = {"start": "2000-01-01T00:00:00Z", "stop": "2100-01-01T00:00:00Z"}


def call(url, body=None, headers=None):
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers or {})
    if isinstance(body, dict):
        request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=TRINO_TIMEOUT_SEC) as response:
        return response.read().decode()


def write(plinth, first_hour):
    lines = [
        f"room,sensor=s{sensor} power={hour * SENSORS + sensor}i {START_SEC + hour * 3600}"
        for hour in range(first_hour, first_hour + HOURS)
        for sensor in range(SENSORS)
    ]
    call(f"{plinth}/api/v3/write_lp?db=home&precision=second", "\n".join(lines).encode())


def read_plinth(plinth, engine="duckdb"):
    query = urllib.parse.quote("SELECT count(*), sum(power) FROM room")
    text = call(f"{plinth}/api/v3/query_sql?db=home&format=csv&engine={engine}&q={query}")
    return tuple(int(cell) for cell in text.split()[-1].split(","))


def load_table(plinth):
    from pyiceberg.catalog import load_catalog

    return load_catalog("plinth", type="rest", uri=f"{plinth}/iceberg").load_table("home.room")


def read_pyiceberg(plinth):
    power = load_table(plinth).scan(selected_fields=("power",)).to_arrow().column("power")
    return len(power), sum(power.to_pylist())


def read_clickhouse(plinth, folder):
    import chdb

    os.chdir("/")  # chdb reads only files below the working directory
    text = chdb.query(f"SELECT count(), sum(power) FROM icebergLocal('{folder}')", "CSV").bytes()
    return tuple(int(cell) for cell in text.decode().strip().split(","))


def query_trino(trino, statement):
    rows, deadline = [], time.monotonic() + TRINO_TIMEOUT_SEC
    page = json.loads(call(f"{trino}/v1/statement", statement.encode(), {"x-trino-user": "lakehouse"}))
    while True:
        if "error" in page:
            raise RuntimeError(page["error"]["message"])
        rows += page.get("data", [])
        if "nextUri" not in page:
            return rows
        if time.monotonic() > deadline:
            raise RuntimeError("Trino did not respond in time")
        page = json.loads(call(page["nextUri"], headers={"x-trino-user": "lakehouse"}))


def compare(plinth, trino):
    """Publishes the rows, and returns whether all readers that are installed agree with Plinth."""
    published = json.loads(call(f"{plinth}/ops/v1/tsdb/open-tables/publish", {"db": "home"}))
    folder = published["tables"][0]["location"].removeprefix("file://")
    trino_sql = 'SELECT count(*), sum(power) FROM plinth."home__jvm".room'
    readers = {
        "PyIceberg": lambda: read_pyiceberg(plinth),
        "ClickHouse": lambda: read_clickhouse(plinth, folder),
    }
    if trino:
        readers["Trino"] = lambda: tuple(query_trino(trino, trino_sql)[0])
        # The server sends the same statement to Trino.
        readers["engine=trino"] = lambda: read_plinth(plinth, "trino")
    expected = read_plinth(plinth)
    print(f"{'Plinth':<12} rows {expected[0]:>5}  sum {expected[1]:>8}", flush=True)
    agrees, count = True, 0
    for name, read in readers.items():
        try:
            found = read()
        except ImportError as error:
            print(f"{name} skipped: the Python package {error.name} is not installed")
            continue
        count += 1
        agrees = agrees and found == expected
        note = "" if found == expected else "  differs"
        print(f"{name:<12} rows {found[0]:>5}  sum {found[1]:>8}{note}", flush=True)
    if count == 0:
        print("no reader is available, so nothing was compared")
    return agrees and count > 0


def main():
    command, address, last = sys.argv[1:]
    if command == "nodes":
        rows = query_trino(address, "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'")
        return rows[0][0] >= int(last)
    write(address, 0)
    print("after a write")
    agrees = compare(address, last)
    call(f"{address}/api/v2/delete?org=o&bucket=home", {"predicate": 'sensor="s7"', **YEARS})
    write(address, HOURS)
    print("after a deletion and a further write")
    return compare(address, last) and agrees


sys.exit(0 if main() else 1)
