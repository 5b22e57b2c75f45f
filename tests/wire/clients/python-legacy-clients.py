"""Two older clients for Python against a server: address, token. Prints one line of JSON for each thing that it finds out."""

import json
import sys

from influxdb import InfluxDBClient as ClientV1
from influxdb.exceptions import InfluxDBClientError
from influxdb_client import InfluxDBClient as ClientV2
from influxdb_client import Permission, PermissionResource, Point, WriteOptions, WritePrecision
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException

host, port, token = sys.argv[1:4]


def tell(name, found):
    print(json.dumps({name: found}, sort_keys=True))


v1 = ClientV1(host, int(port), "any", token, "home", gzip=True)
v1.create_database("home")
tell("v1 lists", {"name": "home"} in v1.get_list_database())
points = [
    {
        "measurement": "m",
        "tags": {"h": "a b", "u": "ü,="},
        "time": "2020-01-01T00:00:00Z",
        "fields": {"f": 1.5, "i": 3, "s": 'q"x', "b": True},
    }
]
v1.write_points(points, time_precision="ms")
many = [
    {"measurement": "many", "tags": {"h": str(i % 7)}, "time": i, "fields": {"v": i}}
    for i in range(5000)
]
v1.write_points(many, time_precision="s", batch_size=700)
tell("v1 reads", list(v1.query("SELECT * FROM m", epoch="ms").get_points()))
bound = v1.query("SELECT f FROM m WHERE h = $h", bind_params={"h": "a b"})
tell("v1 binds", len(list(bound.get_points())))
# The client cannot read chunks in MessagePack, which it asks for unless it is told otherwise.
in_json = ClientV1(host, int(port), "any", token, "home", headers={"Accept": "application/json"})
chunked = in_json.query("SELECT v FROM many", chunked=True, chunk_size=100)
tell("v1 reads chunks", sum(row["v"] for part in chunked for row in part.get_points()))
groups = v1.query("SELECT count(v) FROM many GROUP BY h").keys()
tell("v1 groups", [tags["h"] for _, tags in groups])
try:
    v1.write_points(["m f=\"text\" 1"], protocol="line")
except InfluxDBClientError as error:
    tell("v1 is refused", [error.code, "invalid column type for column 'f'" in error.content])

v2 = ClientV2(url=f"http://{host}:{port}", token=token, org="any", enable_gzip=True)
tell("v2 pings", v2.ping())
tell("v2 health", v2.health().status)
tell("v2 ready", v2.ready().status)
now = v2.write_api(write_options=SYNCHRONOUS)
now.write("v2", record=Point("m").tag("h", "a, b").field("f", 1.5).time(1, WritePrecision.S))
try:
    now.write("v2", record=["m,h=c f=2 2", 'm,h=d f="text" 3'], write_precision=WritePrecision.S)
except ApiException as error:
    message = json.loads(error.body)["message"]
    tell("v2 is refused", [error.status, "line 2: invalid column type" in message])
failures = []
options = WriteOptions(batch_size=500, flush_interval=200)
with v2.write_api(options, error_callback=lambda *about: failures.append(about)) as batching:
    for i in range(5000):
        batching.write("v2", record=f"seq,h={i % 9} n={i}i {i}", write_precision=WritePrecision.S)
tell("v2 failures", len(failures))
v2.delete_api().delete("1970-01-01T00:00:01Z", "1970-01-01T00:00:01Z", 'h="a, b"', bucket="v2")
buckets = v2.buckets_api()
made = buckets.create_bucket(
    bucket_name="managed", org="any", retention_rules=[{"type": "expire", "everySeconds": 86400}]
)
tell("v2 bucket", [made.name, made.retention_rules[0].every_seconds])
changed = buckets.find_bucket_by_name("managed")
changed.retention_rules[0].every_seconds = 0
tell("v2 changed bucket", buckets.update_bucket(changed).retention_rules[0].every_seconds)
org = v2.organizations_api().find_organizations(org="any")[0]
permission = Permission(
    action="write", resource=PermissionResource(type="buckets", id=made.id, org_id=org.id)
)
authorizations = v2.authorizations_api()
writer = authorizations.create_authorization(org_id=org.id, permissions=[permission])
with ClientV2(url=f"http://{host}:{port}", token=writer.token, org="any") as own:
    own.write_api(write_options=SYNCHRONOUS).write("managed", record="m v=1")
    tell("v2 user", own.users_api().me().name)
listed = [each.id for each in authorizations.find_authorizations()]
authorizations.delete_authorization(writer)
left = [each.id for each in authorizations.find_authorizations()]
tell("v2 authorizations", [writer.id in listed, writer.id in left])
buckets.delete_bucket(made)
tell("v2 bucket after deletion", buckets.find_bucket_by_name("managed"))
