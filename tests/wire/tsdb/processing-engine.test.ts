// Source: processing-engine, "Acceptance checks"; tsdb-http, "Processing engine over HTTP"; rows E-01 to E-05 of its checklist.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  assertError,
  type HttpAnswer,
  rows as rowsOf,
  ServerProcess,
  write,
} from '../../harness/index.js';

const isPythonHere = spawnSync('python3', ['--version']).status === 0;
const skip = isPythonHere ? false : 'python3 is not installed';
const TRIGGER = '/api/v3/configure/processing_engine_trigger';
const JSON_TYPE = { 'content-type': 'application/json' };

/** 200 and not one byte. */
function assertDone(answer: HttpAnswer): void {
  assert.deepEqual([answer.status, answer.text], [200, '']);
}

async function rows(
  server: ServerProcess,
  db: string,
  q: string,
): Promise<Record<string, unknown>[]> {
  return (await rowsOf(server, db, q)) as Record<string, unknown>[];
}

/** Says what it gets; the tables of its own lines are skipped. */
const ECHO_WRITES = `
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.info("call")
    for batch in table_batches:
        for row in batch["rows"]:
            influxdb3_local.info(batch["table_name"], repr(row))
`;

describe('The processing engine', { skip }, () => {
  let folder: string;
  let server: ServerProcess;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plinth-plugins-'));
    server = await start();
    for (const db of ['db1', 'db2']) await write(server, { db }, 'seed f=1 1');
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const start = (flags: readonly string[] = [], dataDir?: string): Promise<ServerProcess> =>
    ServerProcess.start({
      flags: ['--without-auth', '--plugin-dir', folder, ...flags],
      ...(dataDir === undefined ? {} : { dataDir }),
    });

  async function plugin(name: string, source: string): Promise<string> {
    await writeFile(join(folder, name), source);
    return name;
  }

  const post = (path: string, body: unknown, method = 'POST') =>
    server.http.send(path, { method, body: JSON.stringify(body), headers: JSON_TYPE });
  const create = (trigger: Readonly<Record<string, unknown>>) =>
    post(TRIGGER, { db: 'db1', ...trigger });
  const remove = (trigger_name: string, db = 'db1') =>
    post(TRIGGER, { db, trigger_name, force: true }, 'DELETE');

  interface LogRow {
    readonly log_level: string;
    readonly log_text: string;
  }

  async function logOf(trigger: string, db = 'db1'): Promise<string[]> {
    const found = (await rows(
      server,
      db,
      // `time` is another name of \`event_time\` that * does not show.
      `SELECT log_level, log_text FROM system.processing_engine_logs AS l WHERE trigger_name = '${trigger}' AND l.time = event_time ORDER BY time`,
    )) as unknown as LogRow[];
    return found.map(({ log_level, log_text }) => `${log_level} ${log_text}`);
  }

  /** The log of a trigger as soon as it has a line that matches. */
  async function logWith(trigger: string, pattern: RegExp, db = 'db1'): Promise<string[]> {
    for (let wait = 0; wait < 2400; wait++) {
      const lines = await logOf(trigger, db);
      if (lines.some((line) => pattern.test(line))) return lines;
      await sleep(25);
    }
    assert.fail(
      `${pattern} is not in the log of ${trigger}: ${(await logOf(trigger, db)).join('\n')}`,
    );
  }

  it('E-01 takes every form of specification and refuses the rest with its reason', async () => {
    await plugin('any.py', 'x = 1\n');
    const base = { plugin_filename: 'any.py', disabled: true };
    const forms: readonly (readonly [spec: string, json: string])[] = [
      ['all_tables', '"all_tables_wal_write"'],
      [' all_tables ', '"all_tables_wal_write"'],
      ['table:cpu', '{"single_table_wal_write":{"table_name":"cpu"}}'],
      ['cron:0 0 6 * * 1-5', '{"schedule":{"schedule":"0 0 6 * * 1-5"}}'],
      ['every:1m', '{"every":{"duration":{"secs":60,"nanos":0}}}'],
      ['every:1h 30m', '{"every":{"duration":{"secs":5400,"nanos":0}}}'],
      ['request:hello', '{"request_path":{"path":"hello"}}'],
    ];
    for (const [index, [trigger_specification]] of forms.entries()) {
      assertDone(await create({ ...base, trigger_name: `form${index}`, trigger_specification }));
    }
    const shown = await rows(
      server,
      'db1',
      "SELECT trigger_specification, disabled, error_behavior FROM system.processing_engine_triggers WHERE trigger_name LIKE 'form%' ORDER BY trigger_name",
    );
    assert.deepEqual(
      shown,
      forms.map(([, trigger_specification]) => ({
        trigger_specification,
        disabled: true,
        error_behavior: 'log',
      })),
    );
    const refused: readonly (readonly [spec: string, context: string])[] = [
      ['all_tables:', ': expect one of the following forms'],
      ['table:', ': table name is empty'],
      ['cron:* * * * *', ''],
      ['cron:60 * * * * *', ''],
      ['every:1.5s', ": couldn't parse to duration"],
      ['every:0s', ": couldn't parse to duration"],
      ['every:2y', ": don't support every schedules of over 1 year"],
      ['request:', ''],
      ['nothing', ': expect one of the following forms'],
    ];
    for (const [trigger_specification, context] of refused) {
      const answer = await create({ ...base, trigger_name: 'bad', trigger_specification });
      assert.equal(answer.status, 400, trigger_specification);
      const { error } = JSON.parse(answer.text) as { error: string };
      const expected = `failed to parse trigger from ${trigger_specification}${context}`;
      assert.ok(error.startsWith(expected), error);
      if (context === '') assert.equal(error, expected);
    }
    for (const index of forms.keys()) await remove(`form${index}`);
  });

  it('E-01 answers what is wrong with a trigger, and keeps nothing of it', async () => {
    await plugin('any.py', 'x = 1\n');
    await mkdir(join(folder, 'no_init'), { recursive: true });
    await symlink('/', join(folder, 'out'));
    const good = {
      plugin_filename: 'any.py',
      trigger_name: 'once',
      trigger_specification: 'all_tables',
      disabled: true,
    };
    assertDone(await create(good));
    const exists = 'attempted to create a resource that already exists';
    assertError(await create(good), 409, exists);
    assertDone(await create({ ...good, db: 'db2' }));
    assertError(await create({ ...good, db: 'none' }), 404, 'Database not found none');
    assertError(await create({ ...good, db: '_internal' }), 400, 'cannot modify internal db');
    const missing = 'Plugin error: reading plugin file: Plugin not found: nope.py';
    assertError(await create({ ...good, plugin_filename: 'nope.py' }), 404, missing);
    const incomplete =
      'Plugin error: reading plugin file: Multi-file plugin directory must contain __init__.py: no_init';
    assertError(await create({ ...good, plugin_filename: 'no_init' }), 400, incomplete);
    for (const path of ['../any.py', '/etc/passwd', 'a/../../b.py', 'out/etc/passwd']) {
      const escapes = `Plugin error: Path traversal detected: plugin filename '${path}' attempts to access files outside the plugin directory`;
      assertError(await create({ ...good, plugin_filename: path }), 400, escapes);
    }
    for (const [trigger_arguments, status] of [
      [{ a: 90, b: true, c: 'x' }, 200],
      [{ a: null }, 400],
      [{ a: [1] }, 400],
      ['x', 400],
    ] as const) {
      const answer = await create({ ...good, trigger_name: 'args', trigger_arguments });
      assert.equal(answer.status, status, answer.text);
    }
    const args = await rows(
      server,
      'db1',
      'SELECT argument_key AS k, argument_value AS v FROM system.processing_engine_trigger_arguments ORDER BY k',
    );
    assert.deepEqual(args, [
      { k: 'a', v: '90' },
      { k: 'b', v: 'true' },
      { k: 'c', v: 'x' },
    ]);
    const text = await server.http.send(TRIGGER, { method: 'POST', body: '{}' });
    assertError(text, 415, 'unacceptable content-type, expected: application/json');
    assert.equal((await create({ ...good, trigger_name: undefined })).status, 400);
    const settings = { error_behavior: 'explode' };
    assert.equal((await create({ ...good, trigger_settings: settings })).status, 400);
    for (const name of ['once', 'args']) await remove(name);
    await remove('once', 'db2');
  });

  it('E-02 enables, disables and deletes as often as asked', async () => {
    await plugin('any.py', ECHO_WRITES);
    await create({
      plugin_filename: 'any.py',
      trigger_name: 'life',
      trigger_specification: 'all_tables',
    });
    const at = { db: 'db1', trigger_name: 'life' };
    const isDisabled = async () =>
      rows(
        server,
        'db1',
        "SELECT disabled FROM system.processing_engine_triggers WHERE trigger_name = 'life'",
      );
    assertDone(await post(`${TRIGGER}/enable`, at));
    assertDone(
      await server.http.send(`${TRIGGER}/disable?db=db1&trigger_name=life`, { method: 'POST' }),
    );
    assertDone(await post(`${TRIGGER}/disable`, { ...at, plugin_filename: 'any.py' }));
    assert.deepEqual(await isDisabled(), [{ disabled: true }]);
    assertDone(await post(`${TRIGGER}/enable`, at));
    assert.deepEqual(await isDisabled(), [{ disabled: false }]);
    const running = 'Cannot delete running plugin life. Disable it first or use --force.';
    assertError(await post(TRIGGER, at, 'DELETE'), 409, running);
    assertDone(
      await server.http.send(`${TRIGGER}?db=db1&trigger_name=life&force=true`, {
        method: 'DELETE',
      }),
    );
    const gone = 'the requested resource was not found: life';
    for (const path of [`${TRIGGER}/enable`, `${TRIGGER}/disable`]) {
      assertError(await post(path, at), 404, gone);
    }
    assertError(await post(TRIGGER, at, 'DELETE'), 404, gone);
  });

  it('hands writes to a write trigger after they are durable, with exact types', async () => {
    await plugin('echo.py', ECHO_WRITES);
    await create({
      plugin_filename: 'echo.py',
      trigger_name: 'echo',
      trigger_specification: 'table:cpu',
    });
    const lines = [
      'mem,host=A used=1i 50',
      'cpu,host=A,region=west usage=1,system=23.2,n=9007199254740993i,u=18446744073709551615u,ok=true,note="a \\"b\\"" 100',
      'cpu,host=B usage=2 200',
    ].join('\n');
    await write(server, { db: 'db1' }, lines);
    const log = await logWith('echo', /finished/);
    assert.deepEqual(log.slice(0, -1), [
      'INFO starting execution of wal plugin.',
      'INFO call',
      "INFO cpu {'host': 'A', 'region': 'west', 'usage': 1.0, 'system': 23.2, 'n': 9007199254740993, 'u': 18446744073709551615, 'ok': True, 'note': 'a \"b\"', 'time': 100}",
      "INFO cpu {'host': 'B', 'usage': 2.0, 'time': 200}",
    ]);
    assert.match(log.at(-1) ?? '', /^INFO finished execution in (\d+m?u?n?s ?)+$/);
    await remove('echo');
  });

  it('gives writes that come together to one call, and goes on when the plugin raises', async () => {
    await plugin(
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
    await create({
      plugin_filename: 'sums.py',
      trigger_name: 'sums',
      trigger_specification: 'all_tables',
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        write(server, { db: 'db1' }, `many f=${i + 100} ${i + 1}`),
      ),
    );
    assert.equal(await totalWhen((total) => total === 20), 20);
    await write(server, { db: 'db1' }, 'many f=13 500');
    const log = await logWith('sums', /unlucky/);
    assert.ok(log.includes('ERROR error executing wal plugin: ValueError: unlucky'));
    await write(server, { db: 'db1' }, 'many f=1 501');
    assert.equal(
      await totalWhen((total) => total !== 20),
      21,
      'what a run queued before it raised',
    );
    const starts = (await logOf('sums')).filter((line) => line.includes('starting'));
    assert.ok(starts.length < 24, `${starts.length} calls`);
    await remove('sums');
  });

  async function totalWhen(isIt: (total: unknown) => boolean): Promise<unknown> {
    for (let wait = 0; wait < 2400; wait++) {
      const known = await rows(server, 'db1', 'SHOW TABLES');
      if (known.some((row) => row['table_name'] === 'sums')) {
        const [row] = await rows(server, 'db1', 'SELECT sum("rows") AS total FROM sums');
        if (isIt(row?.['total'])) return row?.['total'];
      }
      await sleep(25);
    }
    return undefined;
  }

  it('stops a plugin that feeds itself', async () => {
    await plugin(
      'loop.py',
      `
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.write(LineBuilder("loop").int64_field("n", 1))
`,
    );
    await create({
      plugin_filename: 'loop.py',
      trigger_name: 'loop',
      trigger_specification: 'table:loop',
    });
    await write(server, { db: 'db1' }, 'loop n=1i');
    const log = await logWith('loop', /not delivered: 1 rows/);
    assert.equal(log.filter((line) => line.includes('starting')).length, 17);
    await remove('loop');
  });

  it('runs a schedule at its nominal times, and queries with everything that queries have', async () => {
    await plugin(
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
    await create({
      plugin_filename: 'timer.py',
      trigger_name: 'timer',
      trigger_specification: 'every:1s',
    });
    const log = await logWith('timer', /finished/);
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
      (await rows(server, 'db1', 'SHOW TABLES')).some((row) => row['table_name'] === 'm'),
      false,
    );
    await remove('timer');
  });

  it('E-03 answers requests with what the plugin returns', async () => {
    await plugin(
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
    await create({
      plugin_filename: 'web.py',
      trigger_name: 'web',
      trigger_specification: 'request:my/web',
      trigger_arguments: { k: 'v' },
    });
    const engine = '/api/v3/engine/my/web';
    const get = (query: string) => server.http.send(`${engine}?${query}`);
    const failure = (text: string): string => JSON.stringify({ error: text });
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
      const answer = await get(`what=${what}`);
      const got = [answer.status, answer.headers['content-type'], answer.text];
      assert.deepEqual(got, [status, type, body], what);
    }
    assert.equal((await get('what=headers')).headers['x-b'], '2');
    assert.equal((await get('what=flask')).headers['x-a'], '1');
    const raised = await get('raise=1');
    assert.equal(raised.status, 500);
    assert.deepEqual(JSON.parse(raised.text), {
      error: "Python function call failed: KeyError: 'missing'",
    });
    const echoed = await server.http.send(`${engine}?echo=1&a=b%20c&a=last+one`, {
      method: 'POST',
      body: gzipSync('zipped ß'),
      headers: { 'content-encoding': 'gzip', authorization: 'Bearer secret', 'X-Mixed': 'Case' },
    });
    const echo = JSON.parse(echoed.text) as Record<string, Record<string, string>>;
    assert.deepEqual(echo['query'], { echo: '1', a: 'last one' });
    assert.equal(echo['body'], 'zipped ß');
    assert.deepEqual(echo['args'], { k: 'v' });
    assert.equal(echo['headers']?.['x-mixed'], 'Case');
    assert.equal(echo['headers']?.['authorization'], undefined);
    const missing = await server.http.send('/api/v3/engine/nothing');
    assert.deepEqual([missing.status, missing.text], [404, '{"error":"not found"}']);
    assert.equal((await server.http.send(engine, { method: 'PUT', body: '' })).status, 404);
    await post(`${TRIGGER}/disable`, { db: 'db1', trigger_name: 'web' });
    assert.equal((await get('what=str')).status, 404);
    await remove('web');
  });

  it('lets two triggers call each other over HTTP', async () => {
    const call = (path: string) => `
import urllib.request
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    if "deep" in query_parameters:
        return "bottom"
    with urllib.request.urlopen("${server.url}/api/v3/engine/${path}?deep=1") as answer:
        return "over " + answer.read().decode()
`;
    for (const [name, other] of [
      ['ping', 'pong'],
      ['pong', 'ping'],
    ] as const) {
      await plugin(`${name}.py`, call(other));
      await create({
        plugin_filename: `${name}.py`,
        trigger_name: name,
        trigger_specification: `request:${name}`,
      });
    }
    for (const name of ['ping', 'pong', 'ping']) {
      assert.equal((await server.http.send(`/api/v3/engine/${name}`)).text, 'over bottom');
    }
    for (const name of ['ping', 'pong']) await remove(name);
  });

  it('goes on after a crash, and disables a trigger that asks for it, also over a restart', async () => {
    await plugin(
      'crash.py',
      `
import os
def process_writes(influxdb3_local, table_batches, args=None):
    if table_batches[0]["rows"][0]["f"] == 1.0:
        os._exit(3)
    influxdb3_local.info("alive")
`,
    );
    await create({
      plugin_filename: 'crash.py',
      trigger_name: 'crash',
      trigger_specification: 'table:c',
    });
    await create({
      plugin_filename: 'crash.py',
      trigger_name: 'off',
      trigger_specification: 'table:c',
      trigger_settings: { error_behavior: 'Disable' },
    });
    await write(server, { db: 'db1' }, 'c f=1');
    await logWith('crash', /WorkerCrash: Python worker exited \(code 3\)/);
    await logWith('off', /trigger disabled/);
    await write(server, { db: 'db1' }, 'c f=2');
    await logWith('crash', /alive/);
    assert.ok(!(await logOf('off')).some((line) => line.includes('alive')));
    const { dataDir } = server;
    assert.equal(await server.stop(), 0);
    server = await start([], dataDir);
    const kept = await rows(
      server,
      'db1',
      "SELECT trigger_name AS t, disabled AS d FROM system.processing_engine_triggers WHERE plugin_filename = 'crash.py' ORDER BY t",
    );
    assert.deepEqual(kept, [
      { t: 'crash', d: false },
      { t: 'off', d: true },
    ]);
    await write(server, { db: 'db1' }, 'c f=3');
    await logWith('crash', /alive/);
    for (const name of ['crash', 'off']) await remove(name);
  });

  it('E-05 tries plugins out without storing anything', async () => {
    const test = async (kind: 'wal' | 'schedule', source: string, more: object) => {
      await plugin('trial.py', source);
      const answer = await post(`/api/v3/plugin_test/${kind}`, {
        filename: 'trial.py',
        database: 'foo',
        ...more,
      });
      assert.equal(answer.status, 200, answer.text);
      return JSON.parse(answer.text) as Record<string, unknown>;
    };
    const input = { input_lp: 'cpu,host=A usage=1 5' };
    const good = await test(
      'wal',
      `
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.info(table_batches, args)
    influxdb3_local.write(LineBuilder("queued").int64_field("n", 1))
    influxdb3_local.write_sync(LineBuilder("now").int64_field("n", 2), no_sync=True)
    influxdb3_local.write_to_db("other", type("L", (), {"build": lambda self: "a b=1i\\nbroken"})())
`,
      { ...input, input_arguments: { a: 'b' } },
    );
    const lines = good['log_lines'] as string[];
    assert.equal(lines[0], 'INFO: starting execution of wal plugin.');
    assert.equal(
      lines[1],
      "INFO: [{'table_name': 'cpu', 'rows': [{'host': 'A', 'usage': 1.0, 'time': 5}]}] {'a': 'b'}",
    );
    assert.match(lines[2] ?? '', /^INFO: finished execution in /);
    assert.deepEqual(good['database_writes'], {
      foo: ['now n=2i', 'queued n=1i'],
      other: ['a b=1i\nbroken'],
    });
    assert.equal((good['errors'] as string[]).length, 1);
    const failures: readonly (readonly [source: string, error: string])[] = [
      ['x = 1\n  y = 1', 'IndentationError: unexpected indent (<string>, line 2)'],
      [
        'x = 1',
        'the process_writes function is not present in the plugin. Should be defined as: process_writes(influxdb3_local, table_batches, args=None)',
      ],
      [
        'def process_writes(a, b): pass',
        'TypeError: process_writes() takes 2 positional arguments but 3 were given',
      ],
      [
        'def process_writes(a, b, c=None):\n    a.write(LineBuilder("some_table"))',
        'InvalidLineError: At least one field is required: some_table',
      ],
    ];
    for (const [source, error] of failures) {
      const { errors } = await test('wal', source, input);
      assert.deepEqual(errors, [`error executing plugin: ${error}`]);
    }
    const scheduled = await test(
      'schedule',
      'def process_scheduled_call(a, call_time, c=None):\n    a.info(call_time.second)',
      { database: 'db1', schedule: '30 * * * * *' },
    );
    assert.match(String(scheduled['trigger_time']), /:30Z$/);
    assert.equal((scheduled['log_lines'] as string[])[1], 'INFO: 30');
    assert.deepEqual((await test('schedule', 'x = 1', {}))['errors'], ["couldn't find db"]);
    const bad = { filename: 'trial.py', database: 'db1', schedule: 'x' };
    assertError(await post('/api/v3/plugin_test/schedule', bad), 400, 'invalid cron syntax: x');
    assertError(
      await post('/api/v3/plugin_test/wal', { ...input, filename: 'none.py', database: 'foo' }),
      404,
      'Plugin error: reading plugin file: Plugin not found: none.py',
    );
    assert.equal(
      (await rows(server, 'db1', 'SHOW TABLES')).some((row) => row['table_name'] === 'queued'),
      false,
    );
  });

  it('E-05 takes plugin files, and whole folders in one step', async () => {
    const files = '/api/v3/plugins/files';
    const source = (text: string) =>
      `def process_request(a, b, c, d, args=None):\n    return "${text}"\n`;
    assertDone(await post(files, { plugin_name: 'up/one.py', content: source('one') }));
    await create({
      plugin_filename: 'up/one.py',
      trigger_name: 'up',
      trigger_specification: 'request:up',
    });
    const ask = async () => (await server.http.send('/api/v3/engine/up')).text;
    assert.equal(await ask(), 'one');
    assertDone(await post(files, { plugin_name: 'up', content: source('changed') }, 'PUT'));
    assert.equal(await ask(), 'changed');
    const unknown = 'Processing engine error: plugin error: Plugin not found: nobody';
    assertError(await post(files, { plugin_name: 'nobody', content: '' }, 'PUT'), 404, unknown);
    const outside = await post(files, { plugin_name: '../x.py', content: '' });
    assert.equal(outside.status, 400, outside.text);
    const long = await post(files, { plugin_name: `up/${'x'.repeat(300)}`, content: '' });
    assertError(long, 400, "a part of the file's path is longer than 200 bytes");
    await remove('up');
    await post(files, { plugin_name: 'many/__init__.py', content: source('many') });
    await create({
      plugin_filename: 'many',
      trigger_name: 'many',
      trigger_specification: 'request:many',
    });
    const askMany = async () => (await server.http.send('/api/v3/engine/many')).text;
    assert.equal(await askMany(), 'many');
    const replaced = await post(
      '/api/v3/plugins/directory',
      {
        plugin_name: 'many',
        files: [
          { relative_path: '__init__.py', content: 'from .sub.part import process_request\n' },
          { relative_path: 'sub/part.py', content: source('from a part') },
        ],
      },
      'PUT',
    );
    assertDone(replaced);
    assert.equal(await askMany(), 'from a part');
    const shown = await rows(
      server,
      '_internal',
      "SELECT file_name AS f FROM system.plugin_files WHERE plugin_name = 'many' ORDER BY f",
    );
    assert.deepEqual(shown, [{ f: '__init__.py' }, { f: 'sub/part.py' }]);
    await remove('many');
  });

  it('fetches plugins from a repository, and says why when it cannot', async () => {
    const repository: Server = createServer((request, response) => {
      if (request.url === '/base/dir/remote.py') {
        response.end('def process_request(a, b, c, d, args=None):\n    return "remote"\n');
      } else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => repository.once('listening', resolve));
    const { port } = repository.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}/base`;
    const { dataDir } = server;
    await server.stop();
    server = await start(['--plugin-repo', base], dataDir);
    const fetched = {
      trigger_name: 'remote',
      trigger_specification: 'request:remote',
    };
    assertDone(await create({ ...fetched, plugin_filename: 'gh:dir/remote.py' }));
    assert.equal((await server.http.send('/api/v3/engine/remote')).text, 'remote');
    assertError(
      await create({ ...fetched, trigger_name: 'x', plugin_filename: 'gh:none.py' }),
      502,
      `Plugin error: error fetching plugin from repository: 404 Not Found ${base}/none.py`,
    );
    await remove('remote');
    repository.close();
  });

  it('E-04 installs packages from a folder and from a requirements file', async () => {
    const wheels = join(folder, 'wheels');
    await makeWheel(wheels, 'plinth_sample', '1.2');
    const install = '/api/v3/configure/plugin_environment';
    const wheel = join(wheels, 'plinth_sample-1.2-py3-none-any.whl');
    assertDone(await post(`${install}/install_packages`, { packages: [wheel] }));
    await plugin(
      'uses.py',
      'import plinth_sample\ndef process_request(a, b, c, d, args=None):\n    return plinth_sample.VALUE\n',
    );
    await create({
      plugin_filename: 'uses.py',
      trigger_name: 'uses',
      trigger_specification: 'request:uses',
    });
    assert.equal((await server.http.send('/api/v3/engine/uses')).text, 'value of plinth_sample');
    await writeFile(
      join(folder, 'requirements.txt'),
      `--no-index\n--find-links ${wheels}\nplinth_sample==1.2\n`,
    );
    const location = { requirements_location: 'requirements.txt' };
    assertDone(await post(`${install}/install_requirements`, location));
    const none = { requirements_location: 'none.txt' };
    assert.equal((await post(`${install}/install_requirements`, none)).status, 404);
    assertDone(await post(`${install}/install_packages`, { packages: [] }));
    for (const name of ['', ' ', '--index-url=http://x']) {
      assert.equal((await post(`${install}/install_packages`, { packages: [name] })).status, 400);
    }
    const failed = await post(`${install}/install_packages`, {
      packages: [join(wheels, 'no.whl')],
    });
    assert.equal(failed.status, 500);
    const { error, data } = JSON.parse(failed.text) as { error: string; data: unknown };
    assert.match(error, /^Processing engine error: error installing python packages: /);
    assert.deepEqual(data, { exit_code: 1 });
    await remove('uses');
  });

  it('stops endless loops and blocking calls when a trigger is disabled', async () => {
    await plugin(
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
      await create({
        plugin_filename: 'stuck.py',
        trigger_name: how,
        trigger_specification: 'table:stuck',
        trigger_arguments: { how },
      });
      await write(server, { db: 'db1' }, 'stuck f=1');
      await logWith(how, /stuck/);
      assertDone(await post(`${TRIGGER}/disable`, { db: 'db1', trigger_name: how }));
      await remove(how);
    }
  });
});

const isUvHere = isPythonHere && spawnSync('uv', ['--version']).status === 0;

describe('Packages', { skip: isUvHere ? false : 'uv or python3 is not installed' }, () => {
  it('E-04 are installed by uv where it is there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-plugins-'));
    try {
      const wheels = join(folder, 'wheels');
      await makeWheel(wheels, 'plinth_sample', '1.2');
      const flags = ['--without-auth', '--services', 'tsdb', '--plugin-dir', folder];
      await using server = await ServerProcess.start({ flags });
      const install = (name: string) =>
        server.http.send('/api/v3/configure/plugin_environment/install_packages', {
          method: 'POST',
          body: JSON.stringify({ packages: [join(wheels, name)] }),
          headers: JSON_TYPE,
        });
      assertDone(await install('plinth_sample-1.2-py3-none-any.whl'));
      const python = join(folder, '.venv', 'bin', 'python');
      const imported = (name: string) => spawnSync(python, ['-c', `import ${name}`]).status;
      // pip would have been put there first.
      assert.deepEqual([imported('plinth_sample'), imported('pip')], [0, 1]);
      const failed = await install('no.whl');
      assert.equal(failed.status, 500);
      assert.match(failed.text, /error installing python packages: .*no\.whl/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('Processes of plugins', { skip }, () => {
  const STARTS = `
import subprocess, sys
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    pids = []
    for i in range(int(query_parameters["count"])):
        child = subprocess.Popen(["sleep", "1000"], start_new_session=i % 2 == 1)
        pids.append(child.pid)
    if "hold" in query_parameters:
        child.wait()
    return pids
`;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plinth-plugins-'));
    await writeFile(join(folder, 'starts.py'), STARTS);
  });
  after(() => rm(folder, { recursive: true }));

  async function open(flags: readonly string[] = []): Promise<ServerProcess> {
    const server = await ServerProcess.start({
      flags: ['--without-auth', '--services', 'tsdb', '--plugin-dir', folder, ...flags],
    });
    await write(server, { db: 'db1' }, 'seed f=1 1');
    const trigger = {
      db: 'db1',
      plugin_filename: 'starts.py',
      trigger_name: 'starts',
      trigger_specification: 'request:starts',
    };
    const body = JSON.stringify(trigger);
    assertDone(await server.http.send(TRIGGER, { method: 'POST', body, headers: JSON_TYPE }));
    return server;
  }

  async function ended(pids: readonly number[]): Promise<void> {
    for (let wait = 0; wait < 400 && pids.some(isRunning); wait++) await sleep(25);
    assert.deepEqual(pids.filter(isRunning), []);
  }

  it('are gone when the server is killed, also those that left their session', async () => {
    await using server = await open();
    const pids = JSON.parse(
      (await server.http.send('/api/v3/engine/starts?count=4')).text,
    ) as number[];
    assert.equal(pids.length, 4);
    assert.deepEqual(pids.filter(isRunning), pids);
    await server.kill();
    await ended(pids);
  });

  it('are ended when there are too many, with the reason in the log, and the trigger goes on', async () => {
    await using server = await open(['--plugin-process-limit', '10']);
    const answer = await server.http.send('/api/v3/engine/starts?count=30&hold=1');
    const error = 'Python function call failed: WorkerCrash: the plugin had more than 10 processes';
    assert.deepEqual([answer.status, JSON.parse(answer.text)], [500, { error }]);
    const few = JSON.parse(
      (await server.http.send('/api/v3/engine/starts?count=2')).text,
    ) as number[];
    assert.deepEqual(few.filter(isRunning), few);
    const q = "SELECT log_text FROM system.processing_engine_logs WHERE log_level = 'ERROR'";
    assert.deepEqual(await rows(server, 'db1', q), [
      {
        log_text:
          'error running request plugin: WorkerCrash: the plugin had more than 10 processes',
      },
    ]);
    // Nobody waits for an answer: the log alone says why.
    await server.http.send('/api/v3/engine/starts?count=30');
    const later =
      "SELECT log_text AS t FROM system.processing_engine_logs WHERE log_text LIKE 'WorkerCrash%'";
    for (let wait = 0; wait < 200 && (await rows(server, 'db1', later)).length === 0; wait++) {
      await sleep(25);
    }
    assert.deepEqual(await rows(server, 'db1', later), [
      { t: 'WorkerCrash: the plugin had more than 10 processes' },
    ]);
    await ended(few);
  });
});

/** A process that has ended and waits for its parent to notice runs no more. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('A server whose plugins are restricted or off', () => {
  it('E-01 refuses what its settings say', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-plugins-'));
    await writeFile(join(folder, 'any.py'), 'x = 1\n');
    const trigger = {
      db: 'db1',
      plugin_filename: 'any.py',
      trigger_name: 't',
      trigger_specification: 'every:1h',
    };
    const ask = async (flags: readonly string[], path: string, body: unknown, env = {}) => {
      const server = await ServerProcess.start({ flags: ['--without-auth', ...flags], env });
      try {
        await write(server, { db: 'db1' }, 'm f=1');
        return await server.http.send(path, { body: JSON.stringify(body), headers: JSON_TYPE });
      } finally {
        await server.close();
      }
    };
    assertError(
      await ask([], TRIGGER, trigger),
      500,
      'Plugin error: Node not configured with plugin directory',
    );
    const dir = ['--plugin-dir', folder];
    assertError(
      await ask([...dir, '--restrict-plugin-triggers-to', 'wal,request'], TRIGGER, trigger),
      400,
      'invalid request: server is configured to reject Schedule plugin triggers',
    );
    assertError(
      await ask([...dir, '--python', '/no/such/python'], TRIGGER, trigger),
      503,
      'Python plugins not enabled on this server: python3 (>= 3.9) not found; install it (Debian/Ubuntu: apt install python3 python3-venv) or set --python',
    );
    const install = '/api/v3/configure/plugin_environment/install_packages';
    assertError(
      await ask([...dir, '--package-manager', 'disabled'], install, { packages: ['x'] }),
      403,
      'Package installation has been disabled. Contact your administrator for more information.',
    );
    await rm(folder, { recursive: true });
  });
});

/** A wheel is a zip file; Python makes it. */
async function makeWheel(folder: string, name: string, version: string): Promise<void> {
  const script = `
import os, sys, zipfile
folder, name, version = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
info = f"{name}-{version}.dist-info"
with zipfile.ZipFile(os.path.join(folder, f"{name}-{version}-py3-none-any.whl"), "w") as wheel:
    wheel.writestr(f"{name}.py", f"VALUE = 'value of {name}'\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
  const made = spawnSync('python3', ['-c', script, folder, name, version]);
  assert.equal(made.status, 0, String(made.stderr));
}
