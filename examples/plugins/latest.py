"""Serves the latest row of each series of a table.

Trigger: request:latest, then GET /api/v3/engine/latest?table=<name>.
"""


def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    table = query_parameters.get("table")
    if not table:
        return {"error": "parameter table is missing"}, 400
    known = influxdb3_local.query("SHOW TABLES")
    if not any(row["table_schema"] == "iox" and row["table_name"] == table for row in known):
        return {"error": f"table {table} not found"}, 404
    columns = influxdb3_local.query(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $table", {"table": table}
    )
    tags = [_name(row["column_name"]) for row in columns if row["data_type"].startswith("Dictionary")]
    keys = ", ".join(tags) if tags else "1"
    rows = influxdb3_local.query(
        f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY time DESC) AS place "
        f"FROM {_name(table)}) AS t WHERE place = 1"
    )
    for row in rows:
        del row["place"]
    return {"table": table, "rows": rows}


def _name(name):
    return '"' + name.replace('"', '""') + '"'
