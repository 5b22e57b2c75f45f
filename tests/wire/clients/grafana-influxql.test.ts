// Source: requests of Grafana's InfluxQL data source (public/app/plugins/datasource/influxdb and pkg/tsdb/influxdb).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let token = '';
before(async () => {
  server = await ServerInProcess.start({ flags: [] });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  token = (JSON.parse(made.text) as { token: string }).token;
  const lines = Array.from({ length: 60 }, (_, i) =>
    ['a', 'b'].map(
      (host) => `cpu,host=${host} usage=${i + (host === 'a' ? 0 : 0.5)} ${1_700_000_000 + i * 10}`,
    ),
  ).flat();
  const written = await server.http.send('/write?db=graf&precision=s', {
    body: lines.join('\n'),
    headers: basic(),
  });
  assert.equal(written.status, 204, written.text);
});
after(async () => await server.close());

const basic = (): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`grafana:${token}`).toString('base64')}`,
});

async function ask(q: string, method: 'GET' | 'POST' = 'GET'): Promise<HttpResponse> {
  const parameters = new URLSearchParams({ db: 'graf', q, epoch: 'ms' });
  const response =
    method === 'GET'
      ? await server.http.send(`/query?${parameters}`, { headers: basic() })
      : await server.http.send('/query?db=graf&epoch=ms', {
          method,
          body: `${new URLSearchParams({ q })}`,
          headers: { ...basic(), 'content-type': 'application/x-www-form-urlencoded' },
        });
  assert.equal(response.status, 200, response.text);
  return response;
}

interface Series {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
}

async function series(q: string, method: 'GET' | 'POST' = 'GET'): Promise<readonly Series[]> {
  const { results } = JSON.parse((await ask(q, method)).text) as {
    results: [{ series?: Series[]; error?: string }];
  };
  assert.equal(results[0].error, undefined);
  return results[0].series ?? [];
}

describe("Grafana's InfluxQL data source", () => {
  it('is told that there is a server it knows', async () => {
    assert.ok((await ask('SHOW RETENTION POLICIES on "graf"')).headers['x-influxdb-version']);
  });

  it('fills its menus', async () => {
    const values = async (q: string): Promise<unknown> => (await series(q))[0]?.values;
    assert.deepEqual(await values('SHOW MEASUREMENTS WITH MEASUREMENT =~ /(?i)CP/ LIMIT 100'), [
      ['cpu'],
    ]);
    assert.deepEqual(await values('SHOW MEASUREMENTS LIMIT 100'), [['cpu']]);
    assert.deepEqual(await values('SHOW TAG KEYS FROM "cpu"'), [['host']]);
    assert.deepEqual(await values('SHOW TAG VALUES FROM "cpu" WITH KEY = "host"'), [
      ['host', 'a'],
      ['host', 'b'],
    ]);
    assert.deepEqual(
      await values(`SHOW TAG VALUES FROM "cpu" WITH KEY = "host" WHERE "host" =~ /^b$/`),
      [['host', 'b']],
    );
    assert.deepEqual(await values('SHOW FIELD KEYS FROM "cpu"'), [['usage', 'float']]);
  });

  for (const method of ['GET', 'POST'] as const) {
    it(`draws its panels by ${method}`, async () => {
      const q = `SELECT mean("usage") FROM "cpu" WHERE ("host" =~ /^(a|b)$/) AND time >= 1700000000000ms and time <= 1700000600000ms GROUP BY time(5m), "host" fill(null)`;
      const [a, b] = await series(q, method);
      assert.deepEqual(a?.tags, { host: 'a' });
      assert.deepEqual(a?.columns, ['time', 'mean']);
      // Buckets start at multiples of five minutes: 1699999800 and so on.
      assert.deepEqual(a?.values, [
        [1_699_999_800_000, 4.5],
        [1_700_000_100_000, 24.5],
        [1_700_000_400_000, 49.5],
      ]);
      assert.deepEqual(b?.values[0], [1_699_999_800_000, 5]);
    });
  }

  it('understands ranges relative to now', async () => {
    assert.deepEqual(
      await series(
        'SELECT mean("usage") FROM "cpu" WHERE time > now() - 1h GROUP BY time(1m) fill(none)',
      ),
      [],
    );
  });
});
