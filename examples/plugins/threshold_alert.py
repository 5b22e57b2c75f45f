"""Publishes a webhook event when a field rises above a limit, and another when it returns below. Each series is tracked separately.

Trigger: table:<name>.
Arguments: field (required), limit (required), url (of this server, default http://127.0.0.1:8181), token (an admin
token, needed unless authentication is disabled).
"""

import json
import urllib.request


def process_writes(influxdb3_local, table_batches, args=None):
    args = args or {}
    field, limit = args.get("field"), args.get("limit")
    if field is None or limit is None:
        influxdb3_local.error("arguments field and limit are required")
        return
    for batch in table_batches:
        for row in batch["rows"]:
            value = row.get(field)
            if isinstance(value, (int, float)):
                _look(influxdb3_local, args, batch["table_name"], row, value > float(limit))


def _look(influxdb3_local, args, table, row, is_above):
    series = {key: value for key, value in row.items() if isinstance(value, str)}
    key = f"{table} {json.dumps(series, sort_keys=True)}"
    was_above = influxdb3_local.cache.get(key, False)
    if is_above == was_above:
        return
    influxdb3_local.cache.put(key, is_above)
    action = "raised" if is_above else "cleared"
    payload = {"action": action, "table": table, "series": series, "value": row[args["field"]], "time_ns": row["time"]}
    influxdb3_local.info(action, key, row[args["field"]])
    _publish(args, {"event": "threshold_alert", "action": action, "payload": payload})


def _publish(args, event):
    url = args.get("url", "http://127.0.0.1:8181") + "/ops/v1/events"
    headers = {"Content-Type": "application/json"}
    if "token" in args:
        headers["Authorization"] = f"Bearer {args['token']}"
    request = urllib.request.Request(url, json.dumps(event).encode(), headers, method="POST")
    with urllib.request.urlopen(request, timeout=10):
        pass
