// Source: tsdb-http, "OpenTelemetry metrics"; OTLP 1.x, "OTLP/HTTP".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { rows as rowsOf, ServerInProcess } from '../../harness/index.js';
import {
  attributes,
  type OtlpRequest,
  otlpBody,
  otlpMessage,
  otlpRequest,
  sendMetrics,
} from '../../harness/otlp-messages.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--num-total-columns-per-table-limit',
      '12',
      '--max-http-request-size',
      '300000',
    ],
  });
});
after(async () => await server.close());

const rows = (db: string, q: string) => rowsOf(server, db, q);
/** 2024-12-30T09:00:00.123456789Z */
const timeUnixNano = '1735549200123456789';
const TIME = '2024-12-30T09:00:00.123456789';
const json = { 'content-type': 'application/json' };
const gauge = (name: string, ...dataPoints: readonly object[]): object => ({
  name,
  gauge: { dataPoints },
});
const point = (rest: object = {}): object => ({ timeUnixNano, asDouble: 1.5, ...rest });

/** Sends a request in both encodings, each to its own database, and returns the rows. */
async function stored(db: string, request: OtlpRequest, q: string): Promise<unknown> {
  const path = (encoding: string) => `/v1/metrics?db=${db}_${encoding}`;
  const inProtobuf = await sendMetrics(server, request, { path: path('protobuf') });
  assert.equal(inProtobuf.status, 200, inProtobuf.text);
  assert.equal(inProtobuf.headers['content-type'], 'application/x-protobuf');
  assert.deepEqual(otlpMessage('Response', inProtobuf.bytes), {});
  const body = Buffer.from(JSON.stringify(request));
  const inJson = await sendMetrics(server, body, { path: path('json'), headers: json });
  assert.equal(inJson.status, 200, inJson.text);
  assert.equal(inJson.headers['content-type'], 'application/json');
  assert.equal(inJson.text, '{}');
  const found = await rows(`${db}_protobuf`, q);
  assert.deepEqual(await rows(`${db}_json`, q), found, 'JSON');
  return found;
}

describe('POST /v1/metrics', () => {
  it('stores a gauge with nanoseconds, and attributes as tags', async () => {
    const value = (key: string, of: object) => ({ key, value: of });
    const list = [{ stringValue: 'x"' }, { intValue: '9007199254740993' }, { boolValue: true }];
    const attributes = [
      value('text', { stringValue: 'ä' }),
      value('flag', { boolValue: false }),
      value('id', { intValue: '-9007199254740993' }),
      value('ratio', { doubleValue: 1e-7 }),
      value('list', { arrayValue: { values: list } }),
      value('map', { kvlistValue: { values: [value('k', { doubleValue: 0.5 })] } }),
      value('none', {}),
      value('', { stringValue: 'nameless' }),
    ];
    const request = otlpRequest([gauge('cpu.usage', point({ attributes }))]);
    assert.deepEqual(await stored('gauge', request, 'SELECT * FROM "cpu.usage"'), [
      {
        ...{ flag: 'false', gauge: 1.5, id: '-9007199254740993' },
        list: '["x\\"",9007199254740993,true]',
        ...{ map: '{"k":0.5}', ratio: '0.0000001', text: 'ä', time: TIME },
      },
    ]);
  });

  it('takes attributes of the point before those of scope and resource', async () => {
    const request = otlpRequest(
      [gauge('m', point({ attributes: attributes({ a: 'point' }) }), point())],
      {
        resource: { a: 'resource', b: 'resource' },
        scope: {
          ...{ name: 'library', version: '1' },
          attributes: attributes({ b: 'scope', c: 'scope' }),
        },
      },
    );
    const scope = { 'otel.library.name': 'library', 'otel.library.version': '1' };
    const rest = { b: 'scope', c: 'scope', gauge: 1.5, ...scope, time: TIME };
    assert.deepEqual(await stored('levels', request, 'SELECT * FROM m ORDER BY a'), [
      { a: 'point', ...rest },
      { a: 'resource', ...rest },
    ]);
  });

  it('stores sums by monotonicity and temporality', async () => {
    const sum = (name: string, rest: object) => ({
      name,
      sum: { dataPoints: [{ timeUnixNano, asInt: '-5' }], ...rest },
    });
    const request = otlpRequest([
      sum('m', { aggregationTemporality: 2, isMonotonic: true }),
      sum('m', { aggregationTemporality: 2 }),
      sum('m', { aggregationTemporality: 1, isMonotonic: true }),
    ]);
    const query = 'SELECT aggregation_temporality AS t, counter, gauge FROM m ORDER BY t';
    assert.deepEqual(await stored('sums', request, query), [
      { t: 'delta', counter: -5 },
      { counter: -5, gauge: -5 },
    ]);
  });

  it('stores histograms with cumulative buckets', async () => {
    const dataPoints = [
      {
        ...{ timeUnixNano, count: '6', sum: 10.5, min: 0.1, max: 9 },
        ...{ bucketCounts: ['1', '2', '3'], explicitBounds: [1e-7, 5] },
      },
      { timeUnixNano: '1', count: '2' },
    ];
    const request = otlpRequest([
      { name: 'h', histogram: { dataPoints, aggregationTemporality: 2 } },
    ]);
    assert.deepEqual(await stored('histograms', request, 'SELECT * FROM h ORDER BY time DESC'), [
      {
        ...{ '+Inf': 6, '0.0000001': 1, '5': 3 },
        ...{ count: 6, max: 9, min: 0.1, sum: 10.5, time: TIME },
      },
      { count: 2, time: '1970-01-01T00:00:00.000000001' },
    ]);
  });

  it('stores exponential histograms with buckets as JSON', async () => {
    const dataPoints = [
      {
        ...{ timeUnixNano, count: '9', sum: 12, scale: -2, zeroCount: '3', zeroThreshold: 0.5 },
        positive: { offset: -4, bucketCounts: ['1', '300'] },
        negative: { offset: 2, bucketCounts: [] },
      },
    ];
    const request = otlpRequest([
      { name: 'e', exponentialHistogram: { dataPoints, aggregationTemporality: 2 } },
    ]);
    assert.deepEqual(await stored('exponential', request, 'SELECT * FROM e'), [
      {
        ...{ count: 9, negative_bucket_counts: '[]', negative_offset: 2 },
        ...{ positive_bucket_counts: '[1,300]', positive_offset: -4, scale: -2, sum: 12 },
        ...{ time: TIME, zero_count: 3, zero_threshold: 0.5 },
      },
    ]);
  });

  it('stores summaries with quantiles as fields', async () => {
    const quantileValues = [
      { quantile: 0.5, value: 3 },
      { quantile: 1, value: 'Infinity' },
      { quantile: 0, value: 'NaN' },
    ];
    const dataPoints = [{ timeUnixNano, count: '4', sum: 8, quantileValues }];
    const request = otlpRequest([{ name: 's', summary: { dataPoints } }]);
    const query = 'SELECT count, sum, "0.5", "1" > 1e308 AS infinite FROM s';
    assert.deepEqual(await stored('summaries', request, query), [
      { '0.5': 3, count: 4, infinite: true, sum: 8 },
    ]);
  });

  it('stores points without a recorded value, and NaN, as rows without a value', async () => {
    const request = otlpRequest([
      gauge(
        'm',
        { timeUnixNano: '1', asDouble: 7 },
        { timeUnixNano: '2', flags: 1 },
        { timeUnixNano: '3', asDouble: 'NaN' },
      ),
      {
        name: 'h',
        histogram: { dataPoints: [{ timeUnixNano: '2', flags: 1 }], aggregationTemporality: 2 },
      },
    ]);
    assert.deepEqual(await stored('stale', request, 'SELECT gauge, stale FROM m ORDER BY time'), [
      { gauge: 7 },
      { stale: true },
      { stale: false },
    ]);
    assert.deepEqual(await rows('stale_json', 'SELECT * FROM h'), [
      { stale: true, time: '1970-01-01T00:00:00.000000002' },
    ]);
  });

  it('renames attributes that have the name of another column', async () => {
    const given = { time: 't', gauge: 'g', count: 'c', stale: 's', value: 'v' };
    const request = otlpRequest([gauge('m', point({ attributes: attributes(given) }))]);
    assert.deepEqual(await stored('renamed', request, 'SELECT * FROM m'), [
      {
        ...{ count_tag: 'c', gauge: 1.5, gauge_tag: 'g', stale_tag: 's', time: TIME },
        ...{ time_tag: 't', value: 'v' },
      },
    ]);
  });

  it('writes to the database of the query, of the header, or to opentelemetry', async () => {
    const request = otlpRequest([gauge('m', point())]);
    const to = async (path: string, headers = {}) =>
      assert.equal((await sendMetrics(server, request, { path, headers })).status, 200);
    await to('/v1/metrics?db=in_query', { database: 'in_header' });
    await to('/v1/metrics', { database: 'in_header' });
    await to('/v1/metrics');
    await to('/v1/metrics?db=in_query&rp=weekly');
    for (const db of ['in_query', 'in_header', 'opentelemetry', 'in_query/weekly'])
      assert.deepEqual(await rows(db, 'SELECT count(*) AS n FROM m'), [{ n: 1 }], db);
  });

  it('accepts gzip, empty requests and unknown fields', async () => {
    const body = otlpBody(otlpRequest([gauge('m', point())]));
    const path = '/v1/metrics?db=forms';
    const headers = { 'content-encoding': 'gzip' };
    assert.equal((await sendMetrics(server, gzipSync(body), { path, headers })).status, 200);
    assert.deepEqual(await rows('forms', 'SELECT gauge FROM m'), [{ gauge: 1.5 }]);
    const unknown = Buffer.concat([Buffer.from([0x7a, 1, 0x41, 0x80, 1, 5]), body]);
    for (const given of [new Uint8Array(0), unknown]) {
      const response = await sendMetrics(server, given, { path });
      assert.equal(response.status, 200, response.text);
      assert.equal(response.bytes.length, 0);
    }
    const future = Buffer.from(
      '{"resourceMetrics":[{"entityRefs":[1],"scopeMetrics":null}],"x":{}}',
    );
    assert.equal((await sendMetrics(server, future, { path, headers: json })).text, '{}');
  });

  it('counts exemplars, which are not stored', async () => {
    const exemplars = [{ timeUnixNano, asDouble: 1 }, { asDouble: 2 }];
    const request = otlpRequest([gauge('m', point({ exemplars }))]);
    const counted = async () => {
      const { text } = await server.http.send('/metrics');
      return Number(/^influxdb3_write_exemplars_dropped_total (\d+)$/m.exec(text)?.[1]);
    };
    const before = await counted();
    await stored('exemplars', request, 'SELECT gauge FROM m');
    assert.equal((await counted()) - before, 4);
  });

  it('parses large requests on another thread to the same rows', async () => {
    const points = Array.from({ length: 1500 }, (_, i) =>
      point({ asDouble: i, attributes: attributes({ host: `host-${i}` }) }),
    );
    const request = otlpRequest([gauge('big', ...points)], { resource: { job: 'node' } });
    for (let round = 0; round < 2; round++)
      assert.equal(
        (await sendMetrics(server, request, { path: '/v1/metrics?db=big' })).status,
        200,
      );
    const sql = 'SELECT count(*) AS n, sum(gauge) AS s, count(DISTINCT host) AS h FROM big';
    assert.deepEqual(await rows('big', sql), [{ n: 1500, s: (1499 * 1500) / 2, h: 1500 }]);
  });
});

describe('partial success of POST /v1/metrics', () => {
  const histogram = (rest: object) => ({
    name: 'h',
    histogram: { dataPoints: [{ timeUnixNano, ...rest }], aggregationTemporality: 2 },
  });
  const long = attributes({ a: 'x'.repeat(70_000) });
  const rejected: Readonly<Record<string, readonly [object, string]>> = {
    no_time: [gauge('m', { asDouble: 1 }), 'm{}: the data point has no timestamp'],
    late: [
      gauge('m', { timeUnixNano: '9223372036854775807', asDouble: 1 }),
      'm{}: the timestamp 9223372036854775807 ns is out of range; the maximum is 9223372036854775806 ns',
    ],
    no_value: [gauge('m', { timeUnixNano }), 'm{}: the data point has no value'],
    no_name: [
      gauge('', point({ attributes: attributes({ a: 'b' }) })),
      '{a="b"}: the metric has no name',
    ],
    long: [gauge('m', point({ attributes: long })), 'the attributes have more than 65536 bytes'],
    no_temporality: [
      { name: 'm', sum: { dataPoints: [point()] } },
      'm{}: the aggregation temporality is 0; use 1 (delta) or 2 (cumulative)',
    ],
    buckets: [
      histogram({ bucketCounts: ['1', '2'], explicitBounds: [1, 2] }),
      'h{}: the histogram has 2 buckets and 2 bounds; the number of buckets must be one more than the number of bounds',
    ],
    bounds: [
      histogram({ bucketCounts: ['1', '2', '3'], explicitBounds: [1, 1] }),
      'h{}: the bounds of the histogram are not in increasing order',
    ],
    infinite: [
      histogram({ bucketCounts: ['1', '2'], explicitBounds: ['Infinity'] }),
      'h{}: the last bound of the histogram is not a finite number',
    ],
    quantiles: [
      {
        name: 's',
        summary: { dataPoints: [{ timeUnixNano, quantileValues: [{ value: 1 }, { value: 2 }] }] },
      },
      's{}: the summary contains a quantile more than once',
    ],
    columns: [
      histogram({
        bucketCounts: Array(13).fill('1'),
        explicitBounds: Array.from({ length: 12 }, (_, i) => i),
      }),
      'Update to schema would exceed number of columns per table limit of 12 columns',
    ],
  };
  for (const [name, [metric, message]] of Object.entries(rejected))
    it(`rejects a point, and stores the others: ${name}`, async () => {
      const request = otlpRequest([gauge('m', point()), metric, gauge('n', point())]);
      const response = await sendMetrics(server, request, { path: `/v1/metrics?db=${name}` });
      assert.equal(response.status, 200, response.text);
      const { partialSuccess } = otlpMessage('Response', response.bytes) as {
        partialSuccess: { rejectedDataPoints: string; errorMessage: string };
      };
      assert.equal(partialSuccess.rejectedDataPoints, '1');
      assert.ok(
        partialSuccess.errorMessage.startsWith('1 of 3 data points were rejected: '),
        partialSuccess.errorMessage,
      );
      assert.ok(partialSuccess.errorMessage.includes(message), partialSuccess.errorMessage);
      const body = Buffer.from(JSON.stringify(request));
      const inJson = await sendMetrics(server, body, {
        path: `/v1/metrics?db=${name}`,
        headers: json,
      });
      assert.deepEqual(JSON.parse(inJson.text), { partialSuccess });
      for (const table of ['m', 'n'])
        assert.deepEqual(await rows(name, `SELECT gauge FROM ${table}`), [{ gauge: 1.5 }]);
    });

  it('reports points whose fields have another type in the table', async () => {
    const path = '/v1/metrics?db=types';
    const line = 'm gauge="text" 1';
    await server.http.send('/api/v3/write_lp?db=types', { body: line });
    const response = await sendMetrics(server, otlpRequest([gauge('m', point())]), { path });
    assert.equal(response.status, 200, response.text);
    assert.match(response.text, /1 of 1 data points were rejected: m: /);
  });
});

describe('errors of POST /v1/metrics', () => {
  const path = '/v1/metrics?db=broken';
  it('returns a Status message in the content type of the request', async () => {
    const cut = otlpBody(otlpRequest([gauge('m', point())])).subarray(0, -1);
    const response = await sendMetrics(server, cut, { path });
    assert.equal(response.status, 400);
    assert.equal(response.headers['content-type'], 'application/x-protobuf');
    const { message } = otlpMessage('Status', response.bytes) as { readonly message: string };
    assert.match(
      message,
      /^not a valid OpenTelemetry metrics message: a length of .* at byte \d+$/,
    );
  });

  it('reports where JSON is not valid', async () => {
    const asInt = (value: unknown) => otlpRequest([gauge('m', { timeUnixNano, asInt: value })]);
    const at = 'resourceMetrics[0].scopeMetrics[0].metrics[0]';
    const cases: readonly (readonly [unknown, string])[] = [
      ['{', 'the body is not valid JSON'],
      [[], 'the body is not an object'],
      [{ resourceMetrics: {} }, 'resourceMetrics is not a list'],
      [asInt('9223372036854775808'), `${at}.gauge.dataPoints[0].asInt is not a 64-bit integer`],
      [asInt(1.5), `${at}.gauge.dataPoints[0].asInt is not a 64-bit integer`],
      [otlpRequest([{ name: 5 }]), `${at}.name is not a string`],
      [
        otlpRequest([{ sum: { aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA' } }]),
        `${at}.sum.aggregationTemporality is not an unsigned 32-bit integer`,
      ],
    ];
    for (const [given, why] of cases) {
      const body = Buffer.from(typeof given === 'string' ? given : JSON.stringify(given));
      const response = await sendMetrics(server, body, { path, headers: json });
      assert.equal(response.status, 400);
      assert.equal(response.headers['content-type'], 'application/json');
      const message = `not a valid OpenTelemetry metrics message: ${why}`;
      assert.deepEqual(JSON.parse(response.text), { message });
    }
  });

  it('refuses other content types and encodings, large bodies and other methods', async () => {
    const body = otlpBody(otlpRequest([gauge('m', point())]));
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': '' },
      { 'content-encoding': 'snappy' },
    ]) {
      const response = await sendMetrics(server, body, { path, headers });
      assert.equal(response.status, 415, response.text);
      assert.match(response.text, /unsupported content (?:type|encoding) \\?".*"; expected /);
    }
    const packed = gzipSync(Buffer.alloc(400_000));
    const headers = { 'content-encoding': 'gzip' };
    assert.equal((await sendMetrics(server, packed, { path, headers })).status, 413);
    assert.equal((await sendMetrics(server, Buffer.alloc(300_001), { path })).status, 413);
    const noGzip = await sendMetrics(server, body, { path, headers });
    assert.equal(noGzip.status, 400);
    assert.ok(noGzip.headers['content-type'] === 'application/x-protobuf');
    const read = await server.http.send(path);
    assert.equal(read.status, 404);
    assert.deepEqual(JSON.parse(read.text), {
      message: 'GET is not supported on this path; use POST',
    });
    assert.deepEqual(
      (
        JSON.parse(
          (await server.http.send('/api/v3/configure/database?format=json')).text,
        ) as object[]
      )
        .map((row) => Object.values(row)[0])
        .includes('broken'),
      false,
      'nothing was stored',
    );
  });

  it('returns 503 with Retry-After, which exporters retry, while rows have no room', async () => {
    const limitBytes = 1_048_576;
    await using small = await ServerInProcess.start({
      flags: ['--without-auth', '--tsdb-buffer-limit-bytes', String(limitBytes)],
    });
    const description = 'x'.repeat(limitBytes);
    const request = otlpRequest([{ ...gauge('m', point()), description }]);
    const response = await sendMetrics(small, request, { path });
    assert.equal(response.status, 503);
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal(response.headers['content-type'], 'application/x-protobuf');
    const { message } = otlpMessage('Status', response.bytes) as { readonly message: string };
    assert.match(message, /retry later/);
  });

  it('bounds the attributes of all points together', async () => {
    const resource = { a: 'x'.repeat(65_000) };
    const points = Array.from({ length: 4200 }, (_, i) => ({
      timeUnixNano: String(i + 1),
      asInt: 1,
    }));
    const request = otlpRequest([gauge('m', ...points)], { resource });
    const response = await sendMetrics(server, request, { path: '/v1/metrics?db=keys' });
    assert.equal(response.status, 200);
    assert.match(
      response.text,
      /attributes of the request exceed 256 MiB in total; send smaller requests/,
    );
  });
});

describe('permissions of POST /v1/metrics', () => {
  it('requires write permission, and returns a Status message without it', async () => {
    await using secured = await ServerInProcess.start({ flags: [] });
    const made = await secured.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text) as { readonly token: string };
    const admin = { authorization: `Bearer ${token}` };
    const request = otlpRequest([gauge('m', point())]);
    const path = '/v1/metrics?db=d';
    const send = async (headers: Record<string, string>) =>
      await sendMetrics(secured, request, { path, headers });
    assert.equal((await send(admin)).status, 200);
    const body = JSON.stringify({
      token_name: 'reader',
      permissions: [{ resource_type: 'db', resource_identifier: ['d'], actions: ['read'] }],
    });
    const headers = { ...admin, 'content-type': 'application/json' };
    const reader = await secured.http.send('/api/v3/enterprise/configure/token', { headers, body });
    const { token: weak } = JSON.parse(reader.text) as { readonly token: string };
    for (const [given, status] of [
      [{}, 401],
      [{ authorization: 'Bearer unknown' }, 401],
      [{ authorization: `Bearer ${weak}` }, 403],
    ] as const) {
      const response = await send(given);
      assert.equal(response.status, status);
      assert.equal(response.headers['content-type'], 'application/x-protobuf');
      const { message } = otlpMessage('Status', response.bytes) as { readonly message: string };
      assert.ok(message.length > 0);
    }
  });
});

describe('OTLP/gRPC', () => {
  const METHOD = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

  /** Calls the service; resolves to the response, or to the code and message of the failure. */
  async function call(
    request: Uint8Array,
    { of = server, method = METHOD, metadata = {} as Record<string, string> } = {},
  ): Promise<unknown> {
    const client = new Client(new URL(of.url).host, credentials.createInsecure());
    try {
      return await new Promise((resolve) => {
        const sent = new Metadata();
        for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
        const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
        client.makeUnaryRequest(
          method,
          bytes,
          (message: Buffer) => otlpMessage('Response', message),
          request,
          sent,
          { deadline: Date.now() + 30_000 },
          (error: ServiceError | null, response: unknown) =>
            resolve(error === null ? response : [error.code, error.details]),
        );
      });
    } finally {
      client.close();
    }
  }
  const body = (...metrics: readonly object[]) => otlpBody(otlpRequest(metrics));

  it('stores points in the database of the metadata, or in opentelemetry', async () => {
    assert.deepEqual(await call(body(gauge('over_grpc', point()))), {});
    const metadata = { database: 'grpc' };
    assert.deepEqual(await call(body(gauge('over_grpc', point())), { metadata }), {});
    for (const db of ['opentelemetry', 'grpc'])
      assert.deepEqual(await rows(db, 'SELECT gauge, time FROM over_grpc'), [
        { gauge: 1.5, time: TIME },
      ]);
  });

  it('reports rejected points as a partial success', async () => {
    await server.http.send('/api/v3/write_lp?db=opentelemetry', {
      method: 'POST',
      body: 'conflict gauge="text"',
    });
    const partial = (await call(body(gauge('conflict', point()), gauge('fine', point())))) as {
      partialSuccess: { rejectedDataPoints: unknown; errorMessage: string };
    };
    assert.equal(Number(partial.partialSuccess.rejectedDataPoints), 1);
    assert.match(partial.partialSuccess.errorMessage, /1 of 2 data points were rejected/);
    assert.deepEqual(await rows('opentelemetry', 'SELECT gauge FROM fine'), [{ gauge: 1.5 }]);
  });

  it('returns status codes by which exporters decide whether to retry', async () => {
    const [invalid] = (await call(Buffer.from([0x0a, 0xff]))) as [number];
    assert.equal(invalid, status.INVALID_ARGUMENT);
    const [unknown] = (await call(body(), { method: METHOD.replace('Export', 'Import') })) as [
      number,
    ];
    assert.equal(unknown, status.UNIMPLEMENTED);
    const [large] = (await call(Buffer.alloc(300_001))) as [number];
    assert.equal(large, status.RESOURCE_EXHAUSTED);
    const http1 = await server.http.send(METHOD, {
      method: 'POST',
      headers: { 'content-type': 'application/grpc' },
      body: '',
    });
    assert.equal(http1.status, 415);
  });

  it('requires write permission', async () => {
    await using closed = await ServerInProcess.start({ flags: [] });
    const made = await closed.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text) as { token: string };
    const granted = await closed.http.send('/api/v3/enterprise/configure/token', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        token_name: 'reader',
        permissions: [
          { resource_type: 'db', resource_identifier: ['opentelemetry'], actions: ['read'] },
        ],
      }),
    });
    const reader = (JSON.parse(granted.text) as { token: string }).token;
    const codeOf = async (metadata: Record<string, string>): Promise<unknown> => {
      const result = await call(body(gauge('m', point())), { of: closed, metadata });
      return Array.isArray(result) ? result[0] : result;
    };
    assert.equal(await codeOf({}), status.UNAUTHENTICATED);
    assert.equal(await codeOf({ authorization: `Bearer ${reader}` }), status.PERMISSION_DENIED);
    assert.deepEqual(await codeOf({ authorization: `Bearer ${token}` }), {});
  });
});
