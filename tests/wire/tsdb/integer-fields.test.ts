// Source: tsdb-http, "Integer fields".
// Own process: it is killed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  type HttpResponse,
  type OwnServer,
  rows,
  ServerInProcess,
  ServerProcess,
  WRITE_APIS,
  write,
} from '../../harness/index.js';
import { sendMetrics } from '../../harness/otlp-messages.js';
import { remoteWrite } from '../../harness/prometheus-messages.js';

const DATABASE = '/api/v3/configure/database';

let process: ServerProcess;
let server: OwnServer;
before(async () => {
  process = await ServerProcess.start();
  server = process;
});
after(async () => {
  await server.close();
  await process.close();
});

const call = (method: string, path: string, body: unknown): Promise<HttpResponse> =>
  server.http.send(path, {
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });

async function configure(method: 'POST' | 'PUT', body: object): Promise<void> {
  const { status, text } = await call(method, DATABASE, body);
  assert.deepEqual([status, text], [200, '']);
}

/** Integer fields and retention in nanoseconds, by database. */
async function settingsOf(find: string): Promise<Record<string, [string, string | null]>> {
  const { text } = await server.http.send(`/ops/v1/tsdb/databases?find=${find}`);
  const { databases } = JSON.parse(text) as {
    databases: { name: string; integer_fields: string; retention_ns: string | null }[];
  };
  return Object.fromEntries(
    databases.map(({ name, integer_fields, retention_ns }) => [
      name,
      [integer_fields, retention_ns],
    ]),
  );
}

const typesOf = (db: string, table: string) =>
  rows(
    server,
    db,
    `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '${table}' AND column_name <> 'time' ORDER BY 1`,
  );

describe('a database with float integer fields', () => {
  it('accepts integers and floats in one field on every write endpoint, also after kill -9', async () => {
    await configure('POST', { db: 'all', integer_fields: 'float' });
    let time = 1;
    for (const api of WRITE_APIS) {
      const table = `m${time}`;
      assertEmpty(await write(server, { api, db: 'all' }, `${table} v=1i,w=2u,x=3i ${time++}`));
      assertEmpty(await write(server, { api, db: 'all' }, `${table} v=1.5,w=2.5 ${time++}`));
    }
    await process.kill();
    server = await ServerInProcess.start({ dataDir: process.dataDir });
    assert.deepEqual((await settingsOf('all'))['all'], ['float', null]);
    assertEmpty(await write(server, { db: 'all' }, 'm1 v=9007199254740993i 100'));
    assert.deepEqual(await typesOf('all', 'm1'), [
      { column_name: 'v', data_type: 'Float64' },
      { column_name: 'w', data_type: 'Float64' },
      { column_name: 'x', data_type: 'Float64' },
    ]);
    assert.deepEqual(await rows(server, 'all', 'SELECT v, w, x FROM m1 ORDER BY time'), [
      { v: 1, w: 2, x: 3 },
      { v: 1.5, w: 2.5 },
      { v: 9007199254740992 },
    ]);
  });

  it('converts the results of INTO', async () => {
    await configure('POST', { db: 'into', integer_fields: 'float' });
    assertEmpty(await write(server, { db: 'into' }, 'm v=1 1\nm v=2 2'));
    const q = encodeURIComponent('SELECT count(v) AS n INTO counts FROM m');
    const { status, text } = await server.http.send(`/query?db=into&q=${q}`, { method: 'POST' });
    assert.equal(status, 200, text);
    assert.deepEqual(await typesOf('into', 'counts'), [{ column_name: 'n', data_type: 'Float64' }]);
    assert.deepEqual(await rows(server, 'into', 'SELECT n FROM counts'), [{ n: 2 }]);
  });

  it('accepts integers and floats of one metric over OTLP, beside remote write', async () => {
    await configure('POST', { db: 'metrics', integer_fields: 'float' });
    for (const value of [{ asInt: '7' }, { asDouble: 7.5 }]) {
      const dataPoints = [{ timeUnixNano: 'asInt' in value ? '1000' : '2000', ...value }];
      const request = {
        resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'g', gauge: { dataPoints } }] }] }],
      };
      const body = Buffer.from(JSON.stringify(request));
      const response = await sendMetrics(server, body, {
        path: '/v1/metrics?db=metrics',
        headers: { 'content-type': 'application/json' },
      });
      assert.deepEqual([response.status, response.text], [200, '{}']);
    }
    assertEmpty(await write(server, { db: 'metrics' }, 'up value=1i 1000000'));
    const response = await remoteWrite(server, [[{ __name__: 'up' }, [0.5, 2]]], {
      path: '/api/v1/prom/write?db=metrics',
    });
    assert.equal(response.status, 204, response.text);
    const values = (table: string, field: string) =>
      rows(server, 'metrics', `SELECT ${field} AS v FROM ${table} ORDER BY time`);
    assert.deepEqual(await values('g', 'gauge'), [{ v: 7 }, { v: 7.5 }]);
    assert.deepEqual(await values('up', 'value'), [{ v: 1 }, { v: 0.5 }]);
  });
});

describe('the option', () => {
  it('is set and changed without the retention period, and also applies to policies', async () => {
    await configure('POST', { db: 'opt', retention_period: '1d' });
    assertEmpty(await write(server, { db: 'opt/week' }, 'm v=1i 1'));
    const day = '86400000000000';
    const settings = async (expected: [string, string | null]) =>
      assert.deepEqual(await settingsOf('opt'), {
        opt: expected,
        'opt/week': [expected[0], null],
      });
    await settings(['integer', day]);
    await configure('PUT', { db: 'opt', integer_fields: 'float' });
    await settings(['float', day]);
    await configure('PUT', { db: 'opt', integer_fields: null, retention_period: '2d' });
    await settings(['float', '172800000000000']);
    await configure('PUT', { db: 'opt' });
    await settings(['float', null]);
    await configure('PUT', { db: 'opt', integer_fields: 'integer', retention_period: '1d' });
    await settings(['integer', day]);
    await configure('PUT', { db: 'opt', integer_fields: 'float', retention_period: null });
    await settings(['float', null]);
    assertEmpty(await write(server, { db: 'opt/week' }, 'm v=1i,w=1i 1\nm w=1.5 2'));
    assert.deepEqual(await typesOf('opt/week', 'm'), [
      { column_name: 'v', data_type: 'Int64' },
      { column_name: 'w', data_type: 'Float64' },
    ]);
  });

  it('is refused for policies and with other values, and then changes nothing', async () => {
    await configure('POST', { db: 'bad', retention_period: '1d' });
    const before = await settingsOf('bad');
    for (const [method, body, error] of [
      [
        'PUT',
        { db: 'bad', integer_fields: 'double' },
        'serde json error: invalid value for field `integer_fields`: "double", expected integer or float',
      ],
      [
        'PUT',
        { db: 'bad', integer_fields: true },
        'serde json error: invalid type for field `integer_fields`: boolean `true`, expected a string',
      ],
      [
        'POST',
        { db: 'bad/day', integer_fields: 'float' },
        "integer_fields cannot be set for the retention policy 'bad/day', which uses the value of its database; set it for the database 'bad'",
      ],
    ] as const) {
      assertError(await call(method, DATABASE, body), 400, error);
    }
    assertError(
      await call('PUT', DATABASE, { db: '_internal', integer_fields: 'float' }),
      403,
      'cannot modify internal db',
    );
    assert.deepEqual(await settingsOf('bad'), before);
  });
});
