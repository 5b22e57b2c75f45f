// Metrics in the formats of other senders: OpenTelemetry, Prometheus remote write, and the API of InfluxDB 2.x.
import { setTimeout } from 'node:timers/promises';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import protobuf from 'protobufjs';
import { stocks } from './data.mjs';

const ROLLUP_TIMEOUT_MS = 20_000;

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Label { string name = 1; string value = 2; }
  message Sample { double value = 1; int64 timestamp = 2; }
  message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; }
  message WriteRequest { repeated TimeSeries timeseries = 1; }
`);
const WriteRequest = root.lookupType('WriteRequest');

/** Writes the same prices with each protocol, and compares the sums. */
export async function showSenders(narrator, client) {
  narrator.title('Other senders: OpenTelemetry, Prometheus, InfluxDB 2.x');
  const all = stocks();
  const symbols = [...new Set(all.map(({ symbol }) => symbol))].sort();
  const bySymbol = symbols.map((symbol) => [symbol, all.filter((p) => p.symbol === symbol)]);
  const sums = bySymbol.map(([symbol, prices]) => ({
    symbol,
    total: prices.reduce((sum, p) => sum + p.price, 0),
  }));
  const totals = (found) =>
    `${found.length} series, ${sums[0].symbol} ${found[0].total.toFixed(0)}`;
  const query = (db, field) =>
    client.query(
      db,
      `SELECT symbol, sum(${field}) AS total FROM price GROUP BY symbol ORDER BY symbol`,
    );
  const send = async (path, expected, { body, headers, query: parameters }) => {
    const { status, text } = await client.call('POST', path, { body, headers, query: parameters });
    if (status !== expected) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
    return text;
  };

  const sample = {
    otlp: (symbol, { price, timeMs }) => ({
      timeUnixNano: `${timeMs}000000`,
      asDouble: price,
      attributes: [{ key: 'symbol', value: { stringValue: symbol } }],
    }),
    remoteWrite: ({ price, timeMs }) => ({ value: price, timestamp: timeMs }),
  };
  await narrator.check(
    'OTLP/HTTP in JSON',
    async () => {
      const dataPoints = bySymbol.flatMap(([symbol, prices]) =>
        prices.map((price) => sample.otlp(symbol, price)),
      );
      const metrics = [{ name: 'price', gauge: { dataPoints } }];
      await send('/v1/metrics', 200, {
        query: { db: 'otlp' },
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }),
      });
      return await query('otlp', 'gauge');
    },
    sums,
    totals,
  );
  await narrator.check(
    'Prometheus remote write',
    async () => {
      const timeseries = bySymbol.map(([symbol, prices]) => ({
        labels: [
          { name: '__name__', value: 'price' },
          { name: 'symbol', value: symbol },
        ],
        samples: prices.map(sample.remoteWrite),
      }));
      await send('/api/v1/write', 204, {
        headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
        body: snappyCompress(WriteRequest.encode({ timeseries }).finish()),
      });
      return await query('prometheus', 'value');
    },
    sums,
    totals,
  );

  const json = { 'content-type': 'application/json' };
  const bucket = await narrator.step('create a bucket with the API of 2.x', async () => {
    const body = JSON.stringify({ name: 'bucket', retentionRules: [{ everySeconds: 0 }] });
    return JSON.parse(await send('/api/v2/buckets', 201, { headers: json, body }));
  });
  await narrator.check(
    'a token for this bucket writes only there',
    async () => {
      const permissions = [{ action: 'write', resource: { type: 'buckets', id: bucket.id } }];
      const body = JSON.stringify({ description: 'writer', permissions });
      const made = JSON.parse(await send('/api/v2/authorizations', 201, { headers: json, body }));
      const writer = client.withToken(made.token);
      const write = async (name) =>
        (await writer.call('POST', '/api/v2/write', { query: { bucket: name }, body: 'm v=1' }))
          .status;
      return [await write('bucket'), await write('otlp')];
    },
    [204, 403],
    (found) => found.join(', '),
  );
  await narrator.check(
    'refused rows are listed with their reason',
    async () => {
      await client.call('POST', '/api/v2/write', { query: { bucket: 'bucket' }, body: 'm v="x"' });
      return await client.query('bucket', 'SELECT reason, line FROM system.refused_writes');
    },
    [{ reason: 'type_conflict', line: 'm v="x"' }],
    ([{ reason, line }]) => `${reason}: ${line}`,
  );
  await showRollup(narrator, client);
}

/** Creates a rollup of one second, and compares its result with the rows of that second. */
async function showRollup(narrator, client) {
  await narrator.check(
    'a rollup computes the aggregates of each second',
    async () => {
      const values = [3, 4, 8];
      // Rows in the future, so that the rollup exists before their interval ends.
      const secondMs = (Math.floor(Date.now() / 1000) + 1) * 1000;
      const lines = values.map((value, index) => `load value=${value} ${secondMs + index}`);
      await client.write('rollups', lines.join('\n'), 'ms');
      const body = JSON.stringify({
        db: 'rollups',
        rollup_name: 'each_second',
        query:
          "SELECT date_bin(INTERVAL '1 second', time) AS time, sum(value) AS total FROM load WHERE time >= $from AND time < $to GROUP BY 1",
        table: 'load_1s',
        every: '1s',
      });
      const headers = { 'content-type': 'application/json' };
      const created = await client.call('POST', '/api/v3/configure/rollup', { headers, body });
      if (created.status >= 300) throw new Error(`create a rollup: ${created.text}`);
      for (const endMs = Date.now() + ROLLUP_TIMEOUT_MS; Date.now() < endMs; ) {
        const found = await client.query('rollups', 'SELECT total FROM load_1s').catch(() => []);
        if (found.length > 0) return found;
        await setTimeout(100);
      }
      throw new Error('the rollup did not run');
    },
    [{ total: 15 }],
    ([{ total }]) => `sum ${total}`,
  );
}
