// Source: tsdb-http, "Client interop": node-influx.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FieldType, InfluxDB } from 'influx';
import { rows as rowsOf, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let token = '';
let influx: InfluxDB;
before(async () => {
  // Its ping sends no credentials.
  server = await ServerInProcess.start({ flags: ['--disable-authz', 'ping'] });
  const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  token = (JSON.parse(created.text) as { token: string }).token;
  influx = connect(token);
});
after(async () => await server.close());

function connect(password: string): InfluxDB {
  const { hostname, port } = new URL(server.url);
  const { FLOAT, INTEGER, STRING, BOOLEAN } = FieldType;
  return new InfluxDB({
    host: hostname,
    port: Number(port),
    database: 'legacy',
    username: 'someone',
    password,
    pool: { requestTimeout: 5_000, maxRetries: 1 },
    schema: [
      {
        measurement: 'weather',
        tags: ['city'],
        fields: { temperature: FLOAT, count: INTEGER, note: STRING, ok: BOOLEAN },
      },
    ],
  });
}

const rows = (db: string, q: string) => rowsOf(server, db, q, { authorization: `Bearer ${token}` });

describe('node-influx', () => {
  it('P-02 finds the server online and reads its version', async () => {
    const [host] = await influx.ping(5_000);
    assert.equal(host?.online, true);
    assert.match(String(host?.version), /^3\./);
  });

  it('W-07 writes points of every type it knows', async () => {
    await influx.writePoints([
      {
        measurement: 'weather',
        tags: { city: 'New York, NY' },
        fields: { temperature: 21.5, count: 7, note: 'say "hi"', ok: true },
        timestamp: new Date('2026-01-01T00:00:00.123Z'),
      },
    ]);
    assert.deepEqual(await rows('legacy', 'SELECT * FROM weather'), [
      {
        city: 'New York, NY',
        count: 7,
        note: 'say "hi"',
        ok: true,
        temperature: 21.5,
        time: '2026-01-01T00:00:00.123',
      },
    ]);
  });

  it('W-07 writes in every precision it knows, hours and minutes too', async () => {
    const times = { h: 1, m: 60, s: 3_600, ms: 3_600_000, u: 3_600_000_000, n: 3_600_000_000_000 };
    for (const [precision, timestamp] of Object.entries(times)) {
      const point = { tags: { precision }, fields: { v: 1 }, timestamp };
      const options = { precision: precision as 'h', database: 'precisions' }; // one of its type's six
      await influx.writeMeasurement('m', [point], options);
    }
    assert.deepEqual(
      await rows('precisions', 'SELECT DISTINCT time, count(*) AS n FROM m GROUP BY time'),
      [{ n: 6, time: '1970-01-01T01:00:00' }],
    );
  });

  it('W-07 writes to another database and retention policy', async () => {
    const point = { measurement: 'm', fields: { v: 1 }, timestamp: 1 };
    const options = { precision: 'n', database: 'other', retentionPolicy: 'weekly' } as const;
    await influx.writePoints([point], options);
    assert.deepEqual(await rows('other/weekly', 'SELECT v FROM m'), [{ v: 1 }]);
    await influx.writePoints([point], { ...options, retentionPolicy: 'autogen' });
    assert.deepEqual(await rows('other', 'SELECT v FROM m'), [{ v: 1 }]);
  });

  it('W-07 hears why a point was refused', async () => {
    const point = (v: number | string) => ({ measurement: 'typed', fields: { v }, timestamp: 1 });
    await influx.writePoints([point(1)], { precision: 'n' });
    await assert.rejects(influx.writePoints([point('x')], { precision: 'n' }), (error) => {
      const text = String(error);
      assert.match(text, /write of line protocol failed/);
      return true;
    });
  });

  it('A-02 hears that its password is wrong', async () => {
    const stranger = connect('wrong');
    const write = stranger.writePoints([{ measurement: 'm', fields: { v: 1 } }]);
    await assert.rejects(write, /the request was not authenticated/);
  });
});
