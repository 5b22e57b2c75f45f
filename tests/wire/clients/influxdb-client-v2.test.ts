// Source: tsdb-http, "Client interop": influxdb-client-js.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpError, InfluxDB, Point, setLogger, type WriteApi } from '@influxdata/influxdb-client';
import {
  AuthorizationsAPI,
  BucketsAPI,
  DeleteAPI,
  HealthAPI,
  OrgsAPI,
  SetupAPI,
} from '@influxdata/influxdb-client-apis';
import { rows as rowsOf, ServerInProcess } from '../../harness/index.js';

const BUFFER_LIMIT_BYTES = 1_048_576;
let server: ServerInProcess;
let token = '';
let client: InfluxDB;
before(async () => {
  // The client logs how it handles failures; the tests check them separately.
  setLogger({ error() {}, warn() {} });
  server = await ServerInProcess.start({
    flags: ['--tsdb-buffer-limit-bytes', String(BUFFER_LIMIT_BYTES)],
  });
  const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  token = (JSON.parse(created.text) as { token: string }).token;
  client = new InfluxDB({ url: server.url, token });
});
after(async () => await server.close());

const rows = (db: string, q: string) => rowsOf(server, db, q, { authorization: `Bearer ${token}` });

async function failureOf(api: WriteApi): Promise<HttpError> {
  try {
    await api.flush();
  } catch (error) {
    assert.ok(error instanceof HttpError, String(error));
    return error;
  } finally {
    await api.close().catch(() => {});
  }
  assert.fail('the write succeeded');
}

/** Full batches are sent in the background, and the client's `close` does not wait for them: resolves when all are written. */
function countWritten(lineCount: number) {
  let left = lineCount;
  let finish = (): void => {};
  let giveUp = (_error: Error): void => {};
  const all = new Promise<void>((resolve, reject) => {
    finish = resolve;
    giveUp = reject;
  });
  const writeSuccess = (lines: readonly string[]): void => {
    left -= lines.length;
    if (left === 0) finish();
  };
  return { all, writeSuccess, giveUp };
}

function writing(api: WriteApi): WriteApi {
  api.writePoint(new Point('m').intField('v', 1));
  return api;
}

describe('@influxdata/influxdb-client', () => {
  it('T-01 W-08 writes points of every type', async () => {
    const api = client.getWriteApi('any org', 'points', 'ms', { defaultTags: { region: 'west' } });
    const point = new Point('weather station')
      .tag('city, country', 'Zürich = CH')
      .floatField('temperature', -1.5)
      .intField('count', '9007199254740991')
      .uintField('total', '18446744073709551615')
      .booleanField('ok', true)
      .stringField('note', 'say "hi"\\\nsecond line')
      .timestamp(new Date('2026-01-01T00:00:00.123Z'));
    api.writePoint(point);
    await api.close();
    const q =
      'SELECT "city, country" AS city, region, temperature, CAST(count AS VARCHAR) AS count, ' +
      'CAST(total AS VARCHAR) AS total, ok, note, time FROM "weather station"';
    assert.deepEqual(await rows('points', q), [
      {
        city: 'Zürich = CH',
        region: 'west',
        temperature: -1.5,
        count: '9007199254740991',
        total: '18446744073709551615',
        ok: true,
        note: 'say "hi"\\\nsecond line',
        time: '2026-01-01T00:00:00.123',
      },
    ]);
  });

  it('W-08 writes in every precision and without a time', async () => {
    const times = { s: 1, ms: 1_000, us: 1_000_000, ns: 1_000_000_000 } as const;
    for (const precision of ['s', 'ms', 'us', 'ns'] as const) {
      const api = client.getWriteApi('o', 'precisions', precision);
      const point = (kind: string) => new Point(precision).tag('kind', kind).intField('v', 1);
      api.writePoint(point('number').timestamp(times[precision]));
      api.writePoint(point('now'));
      api.writePoint(point('server').timestamp(''));
      const startMs = Date.now();
      await api.close();
      assert.deepEqual(
        await rows('precisions', `SELECT time FROM ${precision} WHERE kind = 'number'`),
        [{ time: '1970-01-01T00:00:01' }],
      );
      const recent = `SELECT count(*) AS n FROM ${precision} WHERE kind <> 'number' AND time >= to_timestamp(${Math.floor(startMs / 1000) - 1})`;
      assert.deepEqual(await rows('precisions', recent), [{ n: 2 }]);
    }
  });

  it('W-08 writes in batches, compressed and plain', async () => {
    for (const [bucket, gzipThreshold] of [
      ['plain', 1_000_000],
      ['gzip', 0],
    ] as const) {
      const { all, writeSuccess } = countWritten(2_500);
      const options = { batchSize: 500, gzipThreshold, writeSuccess };
      const api = client.getWriteApi('o', bucket, 'ns', options);
      for (let index = 0; index < 2_500; index++) api.writeRecord(`m v=${index}i ${index}`);
      await all;
      await api.close();
      const q = 'SELECT count(*) AS n, sum(v) AS v FROM m';
      assert.deepEqual(await rows(bucket, q), [{ n: 2_500, v: (2_500 * 2_499) / 2 }]);
    }
  });

  it('W-08 hears which line was refused, and does not send it again', async () => {
    const api = client.getWriteApi('o', 'refused', 'ns');
    api.writeRecords(['m v=1i 1', 'm v="x" 2', 'm v=3i 3']);
    const failure = await failureOf(api);
    assert.equal(failure.statusCode, 400);
    const error_message =
      "invalid column type for column 'v', expected iox::column_type::field::integer, got iox::column_type::field::string";
    const error = 'partial write of line protocol occurred';
    const message = `${error}: line 2: ${error_message}`;
    assert.equal(failure.message, message);
    assert.equal(failure.code, 'invalid');
    const data = [{ original_line: 'm v="x" 2', line_number: 2, error_message }];
    assert.deepEqual(failure.json, { code: 'invalid', message, error, data });
    assert.deepEqual(await rows('refused', 'SELECT v FROM m ORDER BY v'), [{ v: 1 }, { v: 3 }]);
  });

  it('A-02 hears that its token is wrong', async () => {
    const stranger = new InfluxDB({ url: server.url, token: 'wrong' });
    const api = stranger.getWriteApi('o', 'stranger', 'ns');
    api.writeRecord('m v=1 1');
    const failure = await failureOf(api);
    assert.equal(failure.statusCode, 401);
    assert.equal(failure.message, 'unauthorized access');
    assert.equal(failure.code, 'unauthorized');
  });

  it('W-08 is told to come again while the server is full, comes again, and loses nothing', async () => {
    const lineCount = 20_000;
    const attempts: (number | undefined)[] = [];
    const { all, writeSuccess, giveUp } = countWritten(lineCount);
    const api = client.getWriteApi('o', 'full', 'ns', {
      batchSize: 2_000,
      gzipThreshold: 1_000_000, // uncompressed: 10 batches of 270 kB arrive at the same time
      // This client reads the seconds of Retry-After as milliseconds: its limit is the time, not the number of retries.
      maxRetries: 1_000_000,
      maxBufferLines: 1_000_000,
      minRetryDelay: 10,
      retryJitter: 0,
      writeSuccess,
      writeFailed: (error) => {
        attempts.push(error instanceof HttpError ? error.statusCode : undefined);
        if (!(error instanceof HttpError)) giveUp(error); // after three minutes
      },
    });
    const text = 'x'.repeat(100);
    for (let index = 0; index < lineCount; index++) {
      api.writeRecord(`m,t=${index % 10} v=${index}i,s="${text}" ${index}`);
    }
    await all;
    await api.close();
    const q = 'SELECT count(*) AS n, sum(v) AS v FROM m';
    const sum = (lineCount * (lineCount - 1)) / 2;
    assert.deepEqual(await rows('full', q), [{ n: lineCount, v: sum }]);
    assert.ok(attempts.length > 0, 'the server was never full');
    assert.deepEqual(new Set(attempts), new Set([503]));
  });

  it('W-08 finds the default policy of a 1.x server where InfluxQL looks for it', async () => {
    for (const [index, bucket] of ['moved', 'moved/autogen', 'moved/default', 'moved/'].entries()) {
      const api = client.getWriteApi('', bucket, 's');
      api.writePoint(new Point('m').intField('v', index).timestamp(index));
      await api.close();
    }
    assert.deepEqual(await rows('moved', 'SELECT v FROM m ORDER BY time'), [
      { v: 0 },
      { v: 1 },
      { v: 2 },
      { v: 3 },
    ]);
    const body = '{"start":"1970-01-01T00:00:01Z","stop":"1970-01-01T00:00:01Z"}';
    const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
    const path = '/api/v2/delete?bucket=moved%2Fautogen';
    assert.equal((await server.http.send(path, { method: 'POST', body, headers })).status, 204);
    assert.deepEqual(await rows('moved', 'SELECT v FROM m ORDER BY time'), [
      { v: 0 },
      { v: 2 },
      { v: 3 },
    ]);
  });

  it('A-02 is known by the user and password that it gave a 1.x server', async () => {
    const api = new InfluxDB({ url: server.url, token: `any user:${token}` }).getWriteApi('', 'v1');
    assert.equal((await failureOf(writing(api))).statusCode, 400, 'a blank is no part of a token');
    const named = new InfluxDB({ url: server.url, token: `user:${token}` }).getWriteApi('', 'v1');
    await writing(named).close();
    assert.deepEqual(await rows('v1', 'SELECT v FROM m'), [{ v: 1 }]);
    const wrong = new InfluxDB({ url: server.url, token: `${token}:x` }).getWriteApi('', 'v1');
    assert.equal((await failureOf(writing(wrong))).statusCode, 401);
  });

  it('T-01 is told that there is no Flux', async () => {
    const ask = client.getQueryApi('o').collectRows('buckets()');
    await assert.rejects(ask, (error) => error instanceof HttpError && error.statusCode === 404);
  });

  it('manages buckets and authorizations, and deletes rows', async () => {
    const { allowed } = await new SetupAPI(client).getSetup();
    assert.equal(allowed, false);
    assert.equal((await new HealthAPI(client).getHealth()).status, 'pass');
    const { orgs = [] } = await new OrgsAPI(client).getOrgs({ org: 'acme' });
    const orgID = orgs[0]?.id as string;
    const buckets = new BucketsAPI(client);
    const bucket = await buckets.postBuckets({
      body: { orgID, name: 'managed', retentionRules: [{ type: 'expire', everySeconds: 0 }] },
    });
    const bucketID = bucket.id as string;
    const authorizations = new AuthorizationsAPI(client);
    const writer = await authorizations.postAuthorizations({
      body: {
        orgID,
        description: 'writer of managed',
        permissions: [{ action: 'write', resource: { type: 'buckets', id: bucketID, orgID } }],
      },
    });
    const own = new InfluxDB({ url: server.url, token: writer.token as string });
    const api = own.getWriteApi('acme', 'managed', 'ns');
    api.writePoint(new Point('m').tag('h', 'a').intField('v', 1).timestamp('1'));
    api.writePoint(new Point('m').tag('h', 'b').intField('v', 2).timestamp('2'));
    await api.close();
    await new DeleteAPI(client).postDelete({
      org: 'acme',
      bucket: 'managed',
      body: {
        start: '1970-01-01T00:00:00Z',
        stop: '1970-01-01T00:00:01Z',
        predicate: '_measurement="m" AND h="a"',
      },
    });
    assert.deepEqual(await rows('managed', 'SELECT h, v FROM m'), [{ h: 'b', v: 2 }]);
    const authID = writer.id as string;
    await authorizations.deleteAuthorizationsID({ authID });
    const { authorizations: left = [] } = await authorizations.getAuthorizations({ orgID });
    assert.ok(!left.some(({ id }) => id === authID));
    await buckets.deleteBucketsID({ bucketID });
    const { buckets: found } = await buckets.getBuckets({ name: 'managed' });
    assert.deepEqual(found, []);
  });
});
