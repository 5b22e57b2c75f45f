// Source: tsdb-http, "Prometheus remote write"; Prometheus remote write 1.0.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';
import {
  encodeMessage,
  remoteWrite,
  type Series,
  snappy,
  staleRequest,
} from '../../harness/prometheus-messages.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--num-total-columns-per-table-limit',
      '5',
      '--max-http-request-size',
      '300000',
    ],
  });
});
after(async () => await server.close());

async function rows(db: string, q: string): Promise<unknown> {
  const response = await server.http.send(
    `/api/v3/query_sql?format=json_rows&db=${db}&q=${encodeURIComponent(q)}`,
  );
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text);
}

const errorOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { readonly error: string }).error;

const TIME_MS = 1_735_549_200_000;
const up = (job: string): Series[0] => ({ __name__: 'up', job });

describe('POST /api/v1/write', () => {
  it('stores a metric as a table, labels as tags and samples as the field value', async () => {
    const response = await remoteWrite(server, [
      [{ __name__: 'up', instance: 'a:9100', job: 'node' }, [1, TIME_MS], [0, TIME_MS + 15_000]],
      [{ __name__: 'load1', job: 'node' }, [0.25, TIME_MS + 1]],
    ]);
    assert.equal(response.status, 204, response.text);
    assert.equal(response.headers['x-prometheus-remote-write-samples-written'], '3');
    assert.deepEqual(await rows('prometheus', 'SELECT * FROM up ORDER BY time'), [
      { instance: 'a:9100', job: 'node', time: '2024-12-30T09:00:00', value: 1 },
      { instance: 'a:9100', job: 'node', time: '2024-12-30T09:00:15', value: 0 },
    ]);
    assert.deepEqual(await rows('prometheus', 'SELECT * FROM load1'), [
      { job: 'node', time: '2024-12-30T09:00:00.001', value: 0.25 },
    ]);
  });

  it('writes to the database and policy of the 1.x parameters', async () => {
    const to = (path: string) => remoteWrite(server, [[up('x'), [1, TIME_MS]]], { path });
    assert.equal((await to('/api/v1/prom/write?db=legacy')).status, 204);
    assert.equal((await to('/api/v1/prom/write?db=legacy&rp=weekly')).status, 204);
    assert.equal((await to('/api/v1/write?db=native')).status, 204);
    for (const db of ['legacy', 'legacy%2Fweekly', 'native'])
      assert.deepEqual(await rows(db, 'SELECT count(*) AS n FROM up'), [{ n: 1 }], db);
  });

  it('takes samples out of order, and the last of two for the same time', async () => {
    const write = (value: number, timeMs: number) =>
      remoteWrite(server, [[up('late'), [value, timeMs]]], { path: '/api/v1/write?db=late' });
    for (const [value, timeMs] of [
      [2, TIME_MS + 2],
      [1, TIME_MS + 1],
      [3, TIME_MS + 2],
    ] as const)
      assert.equal((await write(value, timeMs)).status, 204);
    assert.deepEqual(await rows('late', 'SELECT value FROM up ORDER BY time'), [
      { value: 1 },
      { value: 3 },
    ]);
  });

  it('stores a stale marker and another NaN as rows without a value', async () => {
    const path = '/api/v1/write?db=stale';
    await remoteWrite(server, [[up('s'), [1, TIME_MS], [Number.NaN, TIME_MS + 1]]], { path });
    const ended = await remoteWrite(server, staleRequest(up('s'), TIME_MS + 2), { path });
    assert.equal(ended.status, 204, ended.text);
    assert.deepEqual(await rows('stale', 'SELECT stale, value FROM up ORDER BY time'), [
      { value: 1 },
      { stale: false },
      { stale: true },
    ]);
    await remoteWrite(server, [[up('i'), [Number.POSITIVE_INFINITY, TIME_MS]]], { path });
    const infinite = "SELECT count(value) AS n FROM up WHERE job = 'i' AND value > 1e308";
    assert.deepEqual(await rows('stale', infinite), [{ n: 1 }]);
  });

  it('refuses a series and writes the others', async () => {
    const good = (job: string): Series => [up(job), [1, TIME_MS]];
    const refused: readonly (readonly [Series[0], string])[] = [
      [{ job: 'nameless' }, '{job="nameless"}: the label "__name__" is missing'],
      [{ __name__: 'up', '': 'x' }, 'up{="x"}: a label has no name'],
      [{ __name__: 'up', job: 'x'.repeat(70_000) }, 'the labels have more than 65536 bytes'],
      [
        { __name__: 'up', a: '1', b: '2', c: '3', d: '4', e: '5' },
        'Update to schema would exceed number of columns per table limit of 5 columns',
      ],
      [{ __name__: 'up', value: 'x', value_tag: 'y' }, 'the label "value_tag" is repeated'],
    ];
    for (const [i, [labels, message]] of refused.entries()) {
      const path = `/api/v1/write?db=refused${i}`;
      const series: Series[] = [good('before'), [labels, [1, TIME_MS]], good('after')];
      const response = await remoteWrite(server, series, { path });
      const isLimit = message.startsWith('Update to schema');
      assert.equal(response.status, isLimit ? 422 : 400, response.text);
      assert.equal(
        response.headers['x-prometheus-remote-write-samples-written'],
        '2',
        response.text,
      );
      assert.ok(errorOf(response).startsWith('1 of 3 samples were refused: '), response.text);
      assert.ok(errorOf(response).includes(message), response.text);
      assert.deepEqual(await rows(`refused${i}`, 'SELECT count(*) AS n FROM up'), [{ n: 2 }]);
    }
  });

  it('drops repeated labels and invalid timestamps by series', async () => {
    const label = (name: string, value: string) => ({ name, value });
    const body = encodeMessage('WriteRequest', {
      timeseries: [
        {
          labels: [label('__name__', 'm'), label('a', '1'), label('a', '2')],
          samples: [{ value: 1, timestamp: TIME_MS }],
        },
        {
          labels: [label('__name__', 'm'), label('empty', '')],
          samples: [
            { value: 1, timestamp: 1e15 },
            { value: 2, timestamp: TIME_MS },
          ],
        },
        { labels: [label('__name__', 'm')], samples: [{ value: 3, timestamp: -1 }] },
      ],
    });
    const response = await remoteWrite(server, body, { path: '/api/v1/write?db=labels' });
    assert.equal(response.status, 400);
    assert.match(
      errorOf(response),
      /^3 of 4 samples were refused: m\{a="1", a="2"\}: the label "a" is repeated; m\{empty=""\}: the timestamp 1000000000000000 ms is out of range; use -9223372036854 to 9223372036854$/,
    );
    assert.deepEqual(await rows('labels', 'SELECT * FROM m'), [
      { time: '1969-12-31T23:59:59.999', value: 3 },
    ]);
  });

  it('renames labels that have the name of another column', async () => {
    const labels = { __name__: 'm', stale: 's', time: 't', value: 'v' };
    const path = '/api/v1/write?db=renamed';
    const response = await remoteWrite(server, [[labels, [1, TIME_MS]]], { path });
    assert.equal(response.status, 204, response.text);
    assert.deepEqual(await rows('renamed', 'SELECT stale_tag, time_tag, value_tag, value FROM m'), [
      { stale_tag: 's', time_tag: 't', value: 1, value_tag: 'v' },
    ]);
  });

  it('accepts requests that contain only metadata', async () => {
    const metadata = [{ type: 1, metric_family_name: 'up', help: 'Whether the target is up.' }];
    const response = await remoteWrite(server, encodeMessage('WriteRequest', { metadata }));
    assert.equal(response.status, 204, response.text);
  });

  it('says what is wrong with a body that it cannot read', async () => {
    const send = (body: Uint8Array, headers: Record<string, string> = {}) =>
      server.http.send('/api/v1/write?db=broken', { body, headers });
    const cases: readonly (readonly [Uint8Array, RegExp])[] = [
      [
        new Uint8Array(0),
        /^error decoding snappy block: the header does not contain a valid size, at byte 0$/,
      ],
      [Buffer.from('not snappy'), /^error decoding snappy block: .*at byte \d+$/],
      [snappy(Buffer.from('not a message')), /^not a valid remote write message: .*at byte \d+$/],
      [
        snappy(Buffer.from([0x0a, 0x7f, 1])),
        /^not a valid remote write message: a length of 127 bytes exceeds its message, at byte 2$/,
      ],
    ];
    for (const [body, message] of cases) {
      const response = await send(body);
      assert.equal(response.status, 400, response.text);
      assert.match(errorOf(response), message);
    }
    assert.equal((await send(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x0f, 0]))).status, 413);
    assert.equal((await send(Buffer.alloc(300_001))).status, 413);
    for (const headers of [
      { 'content-type': 'application/json' },
      { 'content-type': 'application/x-protobuf;proto=unknown.Request' },
      { 'content-encoding': 'gzip' },
    ]) {
      const response = await send(snappy(new Uint8Array(0)), headers);
      assert.equal(response.status, 415, response.text);
      assert.match(errorOf(response), /^unsupported content (?:type|encoding) ".*"; expected /);
    }
    assert.equal((await send(snappy(new Uint8Array(0)))).status, 204);
  });

  it('parses large requests on another thread to the same rows', async () => {
    const series = Array.from(
      { length: 1500 },
      (_, i): Series => [{ __name__: 'big', host: `host-${i}`, job: 'node' }, [i, TIME_MS]],
    );
    const path = '/api/v1/write?db=big';
    for (let round = 0; round < 2; round++) {
      const response = await remoteWrite(server, series, { path });
      assert.equal(response.status, 204, response.text);
    }
    const sql = 'SELECT count(*) AS n, sum(value) AS s, count(DISTINCT host) AS h FROM big';
    assert.deepEqual(await rows('big', sql), [{ n: 1500, s: (1499 * 1500) / 2, h: 1500 }]);
  });
});

describe('permissions of remote write', () => {
  it('requires write permission, and reads user and password of the query string', async () => {
    await using secured = await ServerInProcess.start({ flags: [] });
    const made = await secured.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text) as { readonly token: string };
    const admin = { authorization: `Bearer ${token}` };
    const body = JSON.stringify({
      token_name: 'reader',
      permissions: [{ resource_type: 'db', resource_identifier: ['d'], actions: ['read'] }],
    });
    const path = '/api/v3/enterprise/configure/token';
    const headers = { ...admin, 'content-type': 'application/json' };
    await secured.http.send('/api/v1/write?db=d', {
      headers: admin,
      body: snappy(new Uint8Array(0)),
    });
    const reader = await secured.http.send(path, { headers, body });
    const { token: weak } = JSON.parse(reader.text) as { readonly token: string };
    const status = async (target: string, given: Record<string, string>) =>
      (await remoteWrite(secured, [[up('p'), [1, TIME_MS]]], { path: target, headers: given }))
        .status;
    for (const target of ['/api/v1/write?db=d', '/api/v1/prom/write?db=d']) {
      assert.equal(await status(target, {}), 401);
      assert.equal(await status(target, { authorization: `Bearer ${weak}` }), 403);
      assert.equal(await status(target, admin), 204);
    }
    assert.equal(await status(`/api/v1/prom/write?db=d&u=x&p=${token}`, {}), 204);
    assert.equal(await status(`/api/v1/prom/write?db=d&u=x&p=${weak}`, {}), 403);
  });
});
