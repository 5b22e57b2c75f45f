// Source: docs/TRACING.md, "Send traces to a collector": at most 4,096 spans wait, 512 are sent at a time, dropped ones are counted.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { createLogger } from '../log/logger.js';
import { ManualClock, SeededRandom } from '../testing/index.js';
import { OtlpTracer } from './otlp-tracer.js';

it('drops and counts spans beyond its queue, and sends the rest in batches', async () => {
  const counts: number[] = [];
  const collector = createServer(async (request, response) => {
    counts.push(JSON.parse(await text(request)).resourceSpans[0].scopeSpans[0].spans.length);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo; // a TCP server's
  const clock = new ManualClock(1000);
  const logged: string[] = [];
  let droppedCount = 0;
  const tracer = new OtlpTracer({
    url: `http://127.0.0.1:${port}/v1/traces`,
    nodeId: 'n',
    clock,
    random: new SeededRandom(1, clock),
    log: createLogger({ level: 'info', destination: { write: (line) => logged.push(line) } }),
    dropped: { inc: (by = 1) => (droppedCount += by) },
  });
  const span = { traceId: 'a'.repeat(32), name: 's', startMs: 1, durationMs: 1, attributes: {} };
  for (let i = 0; i < 4100; i++) tracer.record({ ...span, isFailure: false });
  assert.equal(droppedCount, 4);
  await tracer.close();
  assert.deepEqual(counts, Array(8).fill(512));
  assert.match(logged.join(), /"count":4[^0-9].*spans dropped/);
  collector.closeAllConnections();
  collector.close();
  tracer.record({ ...span, isFailure: false });
  await tracer.close();
  assert.equal(droppedCount, 5, 'the collector has stopped');
});
