import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it('writes Prometheus text that ends with the EOF line', async () => {
    const metrics = new Metrics();
    metrics.counter({ name: 'a_total', help: 'A.', labelNames: ['x'] }).inc({ x: 'q"\\' }, 2);
    const { contentType, text } = await metrics.page();
    assert.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(
      text,
      '# HELP a_total A.\n# TYPE a_total counter\na_total{x="q\\"\\\\"} 2\n# EOF\n',
    );
  });

  it('takes metrics that keep their own numbers', async () => {
    const metrics = new Metrics();
    const values = [{ metricName: 'h_bucket', labels: { le: '+Inf', x: 1 }, value: 3 }];
    metrics.add({ name: 'h', get: () => ({ name: 'h', help: 'H.', type: 'histogram', values }) });
    const { text } = await metrics.page();
    assert.equal(text, '# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf",x="1"} 3\n# EOF\n');
  });

  it('measures the process and its event loop until closed', async () => {
    const metrics = new Metrics();
    metrics.observeProcess();
    const { text } = await metrics.page();
    assert.match(text, /^process_resident_memory_bytes \d+$/m);
    assert.match(text, /^nodejs_eventloop_lag_seconds\{quantile="0.99"\} [\d.e-]+$/m);
    metrics.close();
    metrics.close();
  });
});
