// Source: tsdb-http, "OpenTelemetry metrics": exporters of OpenTelemetry JS.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { credentials, Metadata } from '@grpc/grpc-js';
import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { rows, ServerInProcess } from '../../harness/index.js';

const NEVER_MS = 3_600_000;
let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--without-auth'] });
});
after(async () => await server.close());

/** Records one value of each instrument, and exports them. */
async function record(exporter: PushMetricExporter): Promise<void> {
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: NEVER_MS });
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop' }),
    readers: [reader],
    views: [
      {
        instrumentName: 'sizes',
        aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM },
      },
    ],
  });
  const meter = provider.getMeter('checkout', '1.2.3');
  meter.createCounter('orders').add(3, { paid: true, tries: 2 });
  meter.createUpDownCounter('carts').add(-2);
  meter.createObservableGauge('temperature').addCallback((result) => {
    result.observe(21.5, { room: 'a' });
  });
  const boundaries = { explicitBucketBoundaries: [0.05, 1, 10] };
  const latency = meter.createHistogram('latency', { advice: boundaries });
  for (const value of [0.01, 5, 50]) latency.record(value);
  meter.createHistogram('sizes').record(8);
  await provider.forceFlush();
  await provider.shutdown();
}

const SCOPE = { 'otel.library.name': 'checkout', 'otel.library.version': '1.2.3' };
const TAGS = { ...SCOPE, 'service.name': 'shop' };
/** By table. */
const EXPECTED = {
  orders: { ...TAGS, counter: 3, paid: 'true', tries: '2' },
  carts: { ...TAGS, gauge: -2 },
  temperature: { ...TAGS, gauge: 21.5, room: 'a' },
  latency: {
    ...TAGS,
    ...{ count: 3, sum: 55.01, min: 0.01, max: 50 },
    ...{ '0.05': 1, '1': 1, '10': 2, '+Inf': 3 },
  },
};

async function rowOf(db: string, table: string): Promise<unknown> {
  const all = await rows(server, db, `SELECT * FROM "${table}" ORDER BY time LIMIT 1`);
  const [{ time: _, ...row }] = all as [Record<string, unknown>];
  return row;
}

const EXPORTERS = { protobuf: ProtobufExporter, json: JsonExporter };
for (const [encoding, Exporter] of Object.entries(EXPORTERS))
  for (const compression of ['none', 'gzip'] as const)
    describe(`OTLPMetricExporter of ${encoding}, compression ${compression}`, () => {
      const db = `${encoding}-${compression}`;
      it('stores every instrument', async () => {
        // The SDK's enumeration of compressions has these values.
        const options = {
          url: `${server.url}/v1/metrics?db=${db}`,
          compression: compression as never,
        };
        await record(new Exporter(options));
        for (const [table, expected] of Object.entries(EXPECTED))
          assert.deepEqual(await rowOf(db, table), expected, table);
        const sizes = (await rowOf(db, 'sizes')) as Record<string, unknown>;
        assert.equal(sizes['count'], 1);
        assert.equal(sizes['sum'], 8);
        assert.equal(sizes['positive_bucket_counts'], '[1]');
        // The bucket of a value: its index is offset + 1 for powers of two, so the base to it is 8.
        const upper = 2 ** (2 ** -Number(sizes['scale']) * (Number(sizes['positive_offset']) + 1));
        assert.ok(Math.abs(upper - 8) < 1e-6, JSON.stringify(sizes));
      });
    });

for (const compression of ['none', 'gzip'] as const)
  describe(`OTLPMetricExporter of gRPC, compression ${compression}`, () => {
    it('stores every instrument', async () => {
      const metadata = new Metadata();
      metadata.set('database', `grpc-${compression}`);
      await record(
        new GrpcExporter({
          url: server.url,
          credentials: credentials.createInsecure(),
          compression: compression as never,
          metadata,
        }),
      );
      for (const [table, expected] of Object.entries(EXPECTED))
        assert.deepEqual(await rowOf(`grpc-${compression}`, table), expected, table);
    });
  });

describe('OTLPMetricExporter', () => {
  it('marks deltas with a tag, and takes the database of a header', async () => {
    const temporality = { temporalityPreference: AggregationTemporality.DELTA };
    const headers = { database: 'deltas' };
    await record(
      new ProtobufExporter({ url: `${server.url}/v1/metrics`, headers, ...temporality }),
    );
    const delta = { aggregation_temporality: 'delta' };
    assert.deepEqual(await rowOf('deltas', 'orders'), { ...EXPECTED.orders, ...delta });
    assert.deepEqual(await rowOf('deltas', 'latency'), { ...EXPECTED.latency, ...delta });
    assert.deepEqual(await rowOf('deltas', 'temperature'), EXPECTED.temperature);
  });
});
