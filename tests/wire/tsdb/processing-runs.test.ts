// Source: processing-engine, "Entry points", "The handle", "Request plugin responses" and "Errors, retry, disable,
// async, cancel"; tsdb-http, "Processing engine over HTTP".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { until, write } from '../../harness/index.js';
import { assertDone, ECHO_WRITES, noPython, PluginServer, rows, TRIGGER } from './plugin-server.js';

describe('Plugins that run', { skip: noPython }, () => {
  let plugins: PluginServer;
  before(async () => {
    plugins = await PluginServer.start();
  });
  after(() => plugins.close());

  it('hands writes to a write trigger after they are durable, with exact types', async () => {
    await plugins.plugin('echo.py', ECHO_WRITES);
    await plugins.create({
      plugin_filename: 'echo.py',
      trigger_name: 'echo',
      trigger_specification: 'table:cpu',
    });
    const lines = [
      'mem,host=A used=1i 50',
      'cpu,host=A,region=west usage=1,system=23.2,n=9007199254740993i,u=18446744073709551615u,ok=true,note="a \\"b\\"" 100',
      'cpu,host=B usage=2 200',
    ].join('\n');
    await write(plugins.server, { db: 'db1' }, lines);
    const log = await plugins.logWith('echo', /finished/);
    assert.deepEqual(log.slice(0, -1), [
      'INFO starting execution of wal plugin.',
      'INFO call',
      "INFO cpu {'host': 'A', 'region': 'west', 'usage': 1.0, 'system': 23.2, 'n': 9007199254740993, 'u': 18446744073709551615, 'ok': True, 'note': 'a \"b\"', 'time': 100}",
      "INFO cpu {'host': 'B', 'usage': 2.0, 'time': 200}",
    ]);
    assert.match(log.at(-1) ?? '', /^INFO finished execution in (\d+m?u?n?s ?)+$/);
    await plugins.remove('echo');
  });

  it('gives the places of requests that nobody waits for to others', async () => {
    await plugins.plugin(
      'slow.py',
      `
import time
def process_request(influxdb3_local, query, headers, body, args=None):
    time.sleep(float(query.get("seconds", "0")))
    return "done"
`,
    );
    await plugins.create({
      plugin_filename: 'slow.py',
      trigger_name: 'slow',
      trigger_specification: 'request:slow',
    });
    const slow = `${plugins.server.url}/api/v3/engine/slow?seconds=4`;
    const leaving = new AbortController();
    // One runs, 60 wait, and the others are refused.
    const calls = Array.from({ length: 70 }, () => fetch(slow, { signal: leaving.signal }));
    const refused = await Promise.any(calls);
    assert.equal(refused.status, 503);
    leaving.abort();
    await Promise.allSettled(calls);
    // Queued after the abandoned calls, it would wait four minutes.
    const quick = '/api/v3/engine/slow';
    await until(async () => (await plugins.server.http.send(quick)).status === 200, 'an answer');
    await plugins.remove('slow');
  });

  it('leaves out lines of a plugin that says too much, and tells so', async () => {
    // The number of omitted lines depends on the pace. Lines printed together arrive within one second.
    await plugins.plugin(
      'flood.py',
      `
import sys
def process_request(influxdb3_local, query, headers, body, args=None):
    for i in range(20000):
        influxdb3_local.info("x" * 100)
    sys.stdout.write("y\\n" * 600)
    return {"done": True}
`,
    );
    await plugins.create({
      plugin_filename: 'flood.py',
      trigger_name: 'flood',
      trigger_specification: 'request:flood',
    });
    const response = await plugins.server.http.send('/api/v3/engine/flood');
    assert.equal(response.status, 200, response.text);
    const words =
      'log lines dropped: a plugin may write 500 lines and 262144 characters per second';
    const log = await plugins.logWith('flood', /finished/);
    const told = (line: string): boolean => line.includes(words);
    assert.ok(log.some(told));
    assert.ok(log.length < 20_000, `${log.length} lines`);
    let lines: readonly string[] = [];
    for (let wait = 0; wait < 2400 && !lines.some(told); wait++) {
      await sleep(25);
      lines = plugins.server.logText.split('\n');
    }
    assert.equal(lines.filter(told).length, 1, 'told once');
    const last = lines.findLastIndex((line) => line.includes('plugin output'));
    assert.equal(lines.findIndex(told), last + 1, 'behind the last line that was taken');
    await plugins.remove('flood');
  });

  it('gives writes that come together to one call, and goes on when the plugin raises', async () => {
    await plugins.plugin(
      'sums.py',
      `
def process_writes(influxdb3_local, table_batches, args=None):
    count = sum(len(batch["rows"]) for batch in table_batches if batch["table_name"] != "sums")
    if count == 0:
        return
    line = LineBuilder("sums").int64_field("rows", count)
    influxdb3_local.write(line)
    if any(row.get("f") == 13.0 for batch in table_batches for row in batch["rows"]):
        raise ValueError("unlucky")
`,
    );
    await plugins.create({
      plugin_filename: 'sums.py',
      trigger_name: 'sums',
      trigger_specification: 'all_tables',
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        write(plugins.server, { db: 'db1' }, `many f=${i + 100} ${i + 1}`),
      ),
    );
    assert.equal(await totalWhen((total) => total === 20), 20);
    await write(plugins.server, { db: 'db1' }, 'many f=13 500');
    const log = await plugins.logWith('sums', /unlucky/);
    assert.ok(log.includes('ERROR error executing wal plugin: ValueError: unlucky'));
    await write(plugins.server, { db: 'db1' }, 'many f=1 501');
    assert.equal(
      await totalWhen((total) => total !== 20),
      21,
      'what a run queued before it raised',
    );
    const starts = (await plugins.logOf('sums')).filter((line) => line.includes('starting'));
    assert.ok(starts.length < 24, `${starts.length} calls`);
    await plugins.remove('sums');
  });

  it('hands over every row as it was written when a table is deleted and made again meanwhile', async () => {
    await plugins.restart(['--wal-flush-interval', '1s']);
    await plugins.plugin('echo.py', ECHO_WRITES);
    await plugins.create({
      plugin_filename: 'echo.py',
      trigger_name: 'again',
      trigger_specification: 'all_tables',
    });
    const server = plugins.server;
    const deleteTable = () =>
      server.http.send('/api/v3/configure/table?db=db1&table=again', { method: 'DELETE' });
    await write(server, { db: 'db1' }, 'beside f=1 1');
    await write(server, { db: 'db1' }, 'again a=1i,b=2i,t="text" 1');
    assertDone(await deleteTable());
    await write(server, { db: 'db1' }, 'again,t=tag b=20i,c=30i 2');
    assertDone(await deleteTable());
    await write(server, { db: 'db1' }, 'again a=1.5,b=true 3');
    await write(server, { db: 'db1' }, 'beside f=2 2');
    // One run receives one table after the other.
    for (const last of [/'t': 'tag'/, /'time': 3/]) await plugins.logWith('again', last);
    const log = await plugins.logWith('again', /beside \{'f': 2.0/);
    assert.deepEqual(log.filter((line) => / (again|beside) /.test(line)).sort(), [
      "INFO again {'a': 1, 'b': 2, 't': 'text', 'time': 1}",
      "INFO again {'a': 1.5, 'b': True, 'time': 3}",
      "INFO again {'t': 'tag', 'b': 20, 'c': 30, 'time': 2}",
      "INFO beside {'f': 1.0, 'time': 1}",
      "INFO beside {'f': 2.0, 'time': 2}",
    ]);
    await plugins.remove('again');
    await plugins.restart();
  });

  async function totalWhen(isIt: (total: unknown) => boolean): Promise<unknown> {
    for (let wait = 0; wait < 2400; wait++) {
      const known = await rows(plugins.server, 'db1', 'SHOW TABLES');
      if (known.some((row) => row['table_name'] === 'sums')) {
        const [row] = await rows(plugins.server, 'db1', 'SELECT sum("rows") AS total FROM sums');
        if (isIt(row?.['total'])) return row?.['total'];
      }
      await sleep(25);
    }
    return undefined;
  }

  it('stops a plugin that feeds itself', async () => {
    await plugins.plugin(
      'loop.py',
      `
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.write(LineBuilder("loop").int64_field("n", 1))
`,
    );
    await plugins.create({
      plugin_filename: 'loop.py',
      trigger_name: 'loop',
      trigger_specification: 'table:loop',
    });
    await write(plugins.server, { db: 'db1' }, 'loop n=1i');
    const log = await plugins.logWith('loop', /not delivered: 1 rows/);
    assert.equal(log.filter((line) => line.includes('starting')).length, 17);
    await plugins.remove('loop');
  });

  it('runs a schedule at its nominal times, and queries with everything that queries have', async () => {
    await plugins.plugin(
      'timer.py',
      `
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.info("time", call_time.microsecond, call_time.tzinfo)
    influxdb3_local.write_sync(LineBuilder("ticks").tag("t", "a b").float64_field("x", 1).int64_field("i", 2).time_ns(7), no_sync=False)
    influxdb3_local.info(influxdb3_local.query("SELECT t, x, i, time, NULL AS nothing, x > 0 AS yes FROM ticks WHERE t = $t", {"t": "a b"}))
    for text in ("SELECT foo FROM not_here", "SELEC"):
        try:
            influxdb3_local.query(text)
        except Exception as error:
            influxdb3_local.warn(type(error).__name__, error)
    try:
        influxdb3_local.query("SELECT DATE '2020-01-01' AS d")
    except ValueError as error:
        influxdb3_local.warn(error)
    try:
        influxdb3_local.write_sync(type("Lines", (), {"build": lambda self: "m f=1\\nm f=\\"x\\""})(), False)
    except Exception as error:
        influxdb3_local.error(type(error).__name__, str(error)[:46])
`,
    );
    await plugins.create({
      plugin_filename: 'timer.py',
      trigger_name: 'timer',
      trigger_specification: 'every:1s',
    });
    const log = await plugins.logWith('timer', /finished/);
    assert.match(
      log[0] ?? '',
      /^INFO starting execution with scheduled time \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
    );
    const texts = log.slice(1);
    assert.equal(texts[0], 'INFO time 0 None');
    assert.equal(
      texts[1],
      "INFO [{'t': 'a b', 'x': 1.0, 'i': 2, 'time': 7, 'nothing': None, 'yes': True}]",
    );
    assert.equal(
      texts[2],
      "WARN QueryError error: error while planning query: Error during planning: table 'public.iox.not_here' not found executing query on db1: SELECT foo FROM not_here",
    );
    assert.match(
      texts[3] ?? '',
      /^WARN QueryError error: error while planning query: .* executing query on db1: SELEC$/,
    );
    assert.equal(texts[4], 'WARN Unsupported data type: Date32');
    assert.equal(texts[5], 'ERROR Exception error writing line protocol to db1: Cannot wri');
    assert.equal(
      (await rows(plugins.server, 'db1', 'SHOW TABLES')).some((row) => row['table_name'] === 'm'),
      false,
    );
    await plugins.remove('timer');
  });

  it('E-03 answers requests with what the plugin returns', async () => {
    await plugins.plugin(
      'web.py',
      `
import json
class Flask:
    status_code = 201
    headers = {"Content-Type": "text/x", "X-A": "1"}
    def __flask_response__(self): return True
    def get_data(self): return "flask"
RESULTS = {
    "str": "hi", "dict": {"a": [1, 1.5, None]}, "list": [1], "status": ("x", 418), "headers": ("x", {"X-B": "2"}),
    "all": ({"a": 1}, 202, {"content-type": "application/vnd.x", "Connection": "close"}), "other": (5,),
    "none": None, "int": 5, "low": ("x", 99), "big": ("x", 1000), "flask": Flask(), "bytes": b"\\x00\\xff",
    "header": ("x", 200, {"bad name": "1"}),
    "generator": (part for part in ("a", b"b", 3, "c")), "bad": ("x", 200, "no"),
}
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    if "echo" in query_parameters:
        return {"query": query_parameters, "headers": request_headers, "body": request_body.decode(), "args": args}
    if "raise" in query_parameters:
        raise KeyError("missing")
    return RESULTS[query_parameters["what"]]
`,
    );
    await plugins.create({
      plugin_filename: 'web.py',
      trigger_name: 'web',
      trigger_specification: 'request:my/web',
      trigger_arguments: { k: 'v' },
    });
    const engine = '/api/v3/engine/my/web';
    const get = (query: string) => plugins.server.http.send(`${engine}?${query}`);
    const failure = (text: string): string => JSON.stringify({ error: text, data: {} });
    const expected: readonly (readonly [
      what: string,
      status: number,
      type: string,
      body: string,
    ])[] = [
      ['str', 200, 'text/html', 'hi'],
      ['dict', 200, 'application/json', '{"a": [1, 1.5, null]}'],
      ['list', 200, 'application/json', '[1]'],
      ['status', 418, 'text/html', 'x'],
      ['all', 202, 'application/vnd.x', '{"a": 1}'],
      ['other', 200, 'text/plain', '5'],
      ['none', 500, 'application/json', failure('Unsupported return type from Python function')],
      ['int', 500, 'application/json', failure('Unsupported return type from Python function')],
      ['low', 500, 'application/json', failure('invalid status code: 99')],
      ['big', 500, 'application/json', failure('invalid status code: 1000')],
      ['flask', 201, 'text/x', 'flask'],
      ['generator', 200, 'text/html', 'abc'],
      ['header', 500, 'application/json', failure('invalid header name: bad name')],
      ['bad', 500, 'application/json', failure('expected a dictionary in header item')],
    ];
    for (const [what, status, type, body] of expected) {
      const response = await get(`what=${what}`);
      const got = [response.status, response.headers['content-type'], response.text];
      assert.deepEqual(got, [status, type, body], what);
    }
    assert.equal((await get('what=headers')).headers['x-b'], '2');
    assert.equal((await get('what=flask')).headers['x-a'], '1');
    const raised = await get('raise=1');
    assert.equal(raised.status, 500);
    assert.deepEqual(JSON.parse(raised.text), {
      error: "Python function call failed: KeyError: 'missing'",
      data: {},
    });
    const echoed = await plugins.server.http.send(`${engine}?echo=1&a=b%20c&a=last+one`, {
      method: 'POST',
      body: gzipSync('zipped ß'),
      headers: {
        'content-encoding': 'gzip',
        authorization: 'Bearer secret',
        'proxy-authorization': 'Basic secret',
        cookie: 'a=1',
        'X-Mixed': 'Case',
      },
    });
    const echo = JSON.parse(echoed.text) as Record<string, Record<string, string>>;
    assert.deepEqual(echo['query'], { echo: '1', a: 'last one' });
    assert.equal(echo['body'], 'zipped ß');
    assert.deepEqual(echo['args'], { k: 'v' });
    assert.equal(echo['headers']?.['x-mixed'], 'Case');
    assert.equal(echo['headers']?.['cookie'], 'a=1');
    for (const name of ['authorization', 'proxy-authorization'])
      assert.equal(echo['headers']?.[name], undefined, name);
    const missing = await plugins.server.http.send('/api/v3/engine/nothing');
    assert.deepEqual([missing.status, missing.text], [404, '{"error":"not found","data":{}}']);
    assert.equal((await plugins.server.http.send(engine, { method: 'PUT', body: '' })).status, 404);
    await plugins.post(`${TRIGGER}/disable`, { db: 'db1', trigger_name: 'web' });
    assert.equal((await get('what=str')).status, 404);
    await plugins.remove('web');
  });

  it('lets two triggers call each other over HTTP', async () => {
    const call = (path: string) => `
import urllib.request
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    if "deep" in query_parameters:
        return "bottom"
    with urllib.request.urlopen("${plugins.server.url}/api/v3/engine/${path}?deep=1") as answer:
        return "over " + answer.read().decode()
`;
    for (const [name, other] of [
      ['ping', 'pong'],
      ['pong', 'ping'],
    ] as const) {
      await plugins.plugin(`${name}.py`, call(other));
      await plugins.create({
        plugin_filename: `${name}.py`,
        trigger_name: name,
        trigger_specification: `request:${name}`,
      });
    }
    for (const name of ['ping', 'pong', 'ping']) {
      assert.equal((await plugins.server.http.send(`/api/v3/engine/${name}`)).text, 'over bottom');
    }
    for (const name of ['ping', 'pong']) await plugins.remove(name);
  });

  it('goes on after a crash, and disables a trigger that asks for it, also over a restart', async () => {
    await plugins.plugin(
      'crash.py',
      `
import os
def process_writes(influxdb3_local, table_batches, args=None):
    if table_batches[0]["rows"][0]["f"] == 1.0:
        os._exit(3)
    influxdb3_local.info("alive")
`,
    );
    await plugins.create({
      plugin_filename: 'crash.py',
      trigger_name: 'crash',
      trigger_specification: 'table:c',
    });
    await plugins.create({
      plugin_filename: 'crash.py',
      trigger_name: 'off',
      trigger_specification: 'table:c',
      trigger_settings: { error_behavior: 'Disable' },
    });
    await write(plugins.server, { db: 'db1' }, 'c f=1');
    await plugins.logWith('crash', /WorkerCrash: Python worker exited \(code 3\)/);
    await plugins.logWith('off', /trigger disabled/);
    await write(plugins.server, { db: 'db1' }, 'c f=2');
    await plugins.logWith('crash', /alive/);
    assert.ok(!(await plugins.logOf('off')).some((line) => line.includes('alive')));
    await plugins.restart();
    const kept = await rows(
      plugins.server,
      'db1',
      "SELECT trigger_name AS t, disabled AS d FROM system.processing_engine_triggers WHERE plugin_filename = 'crash.py' ORDER BY t",
    );
    assert.deepEqual(kept, [
      { t: 'crash', d: false },
      { t: 'off', d: true },
    ]);
    await write(plugins.server, { db: 'db1' }, 'c f=3');
    await plugins.logWith('crash', /alive/);
    for (const name of ['crash', 'off']) await plugins.remove(name);
  });

  it('stops endless loops and blocking calls when a trigger is disabled', async () => {
    await plugins.plugin(
      'stuck.py',
      `
import time
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.info("stuck")
    while args["how"] == "loop":
        pass
    time.sleep(1000)
`,
    );
    for (const how of ['loop', 'sleep']) {
      await plugins.create({
        plugin_filename: 'stuck.py',
        trigger_name: how,
        trigger_specification: 'table:stuck',
        trigger_arguments: { how },
      });
      await write(plugins.server, { db: 'db1' }, 'stuck f=1');
      await plugins.logWith(how, /stuck/);
      assertDone(await plugins.post(`${TRIGGER}/disable`, { db: 'db1', trigger_name: how }));
      await plugins.remove(how);
    }
  });
});
