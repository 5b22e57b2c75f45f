// Source: tsdb-http, "Client interop": influxdb3-js, its writes.
// influxdb3-queries.test.ts tests its queries.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpError, InfluxDBClient, Point, setLogger } from '@influxdata/influxdb3-client';
import { rows as rowsOf, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let token = '';
let client: InfluxDBClient;
before(async () => {
  setLogger({ error() {}, warn() {} });
  server = await ServerInProcess.start({ flags: [] });
  const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  token = (JSON.parse(created.text) as { token: string }).token;
  client = new InfluxDBClient({ host: server.url, token, database: 'v3' });
});
after(async () => {
  await client.close();
  await server.close();
});

const rows = (db: string, q: string) => rowsOf(server, db, q, { authorization: `Bearer ${token}` });

const pointOf = (kind: string) =>
  Point.measurement('weather station')
    .setTag('kind', kind)
    .setFloatField('temperature', 21.5)
    .setIntegerField('count', '9007199254740991')
    .setUintegerField('total', '9007199254740990')
    .setBooleanField('ok', true)
    .setStringField('note', 'say "hi"')
    .setTimestamp(new Date('2026-01-01T00:00:00.123Z'));

describe('@influxdata/influxdb3-client', () => {
  it('W-08 W-01 writes points through either API', async () => {
    await client.write(pointOf('v2'));
    await client.write(pointOf('v3'), undefined, undefined, { noSync: true });
    const q =
      'SELECT kind, temperature, CAST(count AS VARCHAR) AS count, CAST(total AS VARCHAR) AS total, ' +
      'ok, note, time FROM "weather station" ORDER BY kind';
    const row = (kind: string) => ({
      kind,
      temperature: 21.5,
      count: '9007199254740991',
      total: '9007199254740990',
      ok: true,
      note: 'say "hi"',
      time: '2026-01-01T00:00:00.123',
    });
    assert.deepEqual(await rows('v3', q), [row('v2'), row('v3')]);
  });

  it('W-02 writes in every precision, compressed as well', async () => {
    const times = { s: 1, ms: 1_000, us: 1_000_000, ns: 1_000_000_000 } as const;
    for (const precision of ['s', 'ms', 'us', 'ns'] as const) {
      for (const noSync of [false, true]) {
        const line = `m,p=${precision},n=${noSync} v=1 ${times[precision]}`;
        await client.write(line, 'precisions', undefined, { precision, noSync, gzipThreshold: 0 });
      }
    }
    const q = 'SELECT time, count(*) AS n FROM m GROUP BY time';
    assert.deepEqual(await rows('precisions', q), [{ n: 8, time: '1970-01-01T00:00:01' }]);
  });

  it('W-04 hears which line was refused', async () => {
    const error_message =
      "invalid column type for column 'v', expected iox::column_type::field::integer, got iox::column_type::field::string";
    for (const noSync of [false, true]) {
      const lines = ['m v=1i 1', 'm v="x" 2'];
      const write = client.write(lines, `refused${noSync}`, undefined, { noSync });
      await assert.rejects(write, (error) => {
        assert.ok(error instanceof HttpError, String(error));
        assert.equal(error.statusCode, 400);
        assert.ok(error.message.includes('of line protocol'), error.message);
        assert.ok(error.body?.includes(error_message), error.body);
        return true;
      });
    }
  });

  it('A-02 hears that its token is wrong', async () => {
    const stranger = new InfluxDBClient({ host: server.url, token: 'wrong', database: 'v3' });
    try {
      await assert.rejects(
        stranger.write('m v=1 1'),
        (error) => error instanceof HttpError && error.statusCode === 401,
      );
    } finally {
      await stranger.close();
    }
  });
});
