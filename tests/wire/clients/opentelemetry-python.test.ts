// Source: tsdb-http, "OpenTelemetry metrics": the exporter of OpenTelemetry Python.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pythonWith, rows, runProgram, ServerInProcess } from '../../harness/index.js';

const PYTHON = {
  name: 'opentelemetry',
  packages: ['opentelemetry-sdk==1.45.2', 'opentelemetry-exporter-otlp-proto-http==1.45.2'],
  probe: 'import opentelemetry.exporter.otlp.proto.http.metric_exporter',
};
/** The exporter finds the server in its usual environment variables. */
const SCRIPT = `
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

reader = PeriodicExportingMetricReader(OTLPMetricExporter(), export_interval_millis=3600000)
provider = MeterProvider(metric_readers=[reader], resource=Resource({"service.name": "shop"}))
meter = provider.get_meter("checkout", "1.2.3")
meter.create_counter("orders").add(3, {"paid": True, "sizes": (1, 2)})
meter.create_gauge("temperature").set(21.5, {"room": "a"})
meter.create_histogram("latency", explicit_bucket_boundaries_advisory=[0.05, 1]).record(0.5)
print(provider.force_flush())
provider.shutdown()
`;

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({ flags: [] });
});
after(async () => await server.close());

describe('OpenTelemetry Python', () => {
  it('exports a counter, a gauge and a histogram with a token', async (context) => {
    const python = await pythonWith(PYTHON, context);
    if (python === undefined) return;
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text) as { readonly token: string };
    const output = await runProgram(python, ['-c', SCRIPT], {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${token},database=python`,
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      },
    });
    assert.equal(output.trim(), 'True');
    const first = async (q: string) =>
      await rows(server, 'python', q, { authorization: `Bearer ${token}` });
    const tags = '"service.name", "otel.library.name"';
    const of = { 'service.name': 'shop', 'otel.library.name': 'checkout' };
    assert.deepEqual(
      await first(`SELECT ${tags}, counter, paid, sizes FROM orders ORDER BY time LIMIT 1`),
      [{ ...of, counter: 3, paid: 'true', sizes: '[1,2]' }],
    );
    assert.deepEqual(await first(`SELECT ${tags}, gauge, room FROM temperature LIMIT 1`), [
      { ...of, gauge: 21.5, room: 'a' },
    ]);
    assert.deepEqual(await first('SELECT count, sum, "0.05", "1", "+Inf" FROM latency LIMIT 1'), [
      { '+Inf': 1, '0.05': 0, '1': 1, count: 1, sum: 0.5 },
    ]);
  });
});
