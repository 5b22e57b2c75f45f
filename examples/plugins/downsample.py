"""Downsamples a table: writes the averages of its float fields per series over fixed windows.

Trigger: every:<interval>, for example every:5m.
Arguments: table (required), into (table of the averages, default <table>_mean), window_seconds (default 300).
"""


def process_scheduled_call(influxdb3_local, call_time, args=None):
    args = args or {}
    table = args.get("table")
    if not table:
        influxdb3_local.error("argument table is missing")
        return
    into = args.get("into", f"{table}_mean")
    window_sec = int(args.get("window_seconds", "300"))
    tags, fields = _columns(influxdb3_local, table)
    if not fields:
        influxdb3_local.warn(f"table {table} has no float field")
        return

    # Processes completed windows since the end of the previous run.
    end_ns = int(call_time.timestamp()) // window_sec * window_sec * 1_000_000_000
    start_ns = influxdb3_local.cache.get("end_ns", end_ns - window_sec * 1_000_000_000)
    means = ", ".join(f"avg({_name(field)}) AS {_name(field)}" for field in fields)
    keys = "".join(f", {_name(tag)}" for tag in tags)
    rows = influxdb3_local.query(
        f"SELECT date_bin(INTERVAL '{window_sec} seconds', time) AS window_start{keys}, {means} "
        f"FROM {_name(table)} WHERE time >= {start_ns}::TIMESTAMP AND time < {end_ns}::TIMESTAMP "
        f"GROUP BY 1{keys} ORDER BY 1"
    )
    written = 0
    for row in rows:
        line = LineBuilder(into)
        for tag in tags:
            if row[tag] is not None:
                line.tag(tag, row[tag])
        present = [field for field in fields if row[field] is not None]
        for field in present:
            line.float64_field(field, row[field])
        if present:
            influxdb3_local.write(line.time_ns(row["window_start"]))
            written += 1
    influxdb3_local.cache.put("end_ns", end_ns)
    influxdb3_local.info(f"{written} averages of {table} written to {into}")


def _columns(influxdb3_local, table):
    rows = influxdb3_local.query(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $table", {"table": table}
    )
    tags = [row["column_name"] for row in rows if row["data_type"].startswith("Dictionary")]
    fields = [row["column_name"] for row in rows if row["data_type"] == "Float64"]
    return tags, fields


def _name(name):
    return '"' + name.replace('"', '""') + '"'
