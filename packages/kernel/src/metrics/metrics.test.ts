import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Histogram } from './histogram.js';
import { unitOf } from './metric.js';
import { Metrics } from './metrics.js';

describe('Metrics', () => {
  // Source: the text format's own description, prometheus.io, "Exposition formats".
  it('writes Prometheus text that ends with the EOF line', async () => {
    const metrics = new Metrics();
    metrics.counter({ name: 'a_total', help: 'A.' }).inc(2);
    metrics.gauge({ name: 'b', help: 'B\\\n.', read: async () => -0.5 });
    const { contentType, text } = await metrics.page();
    assert.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(
      text,
      `# HELP a_total A.
# TYPE a_total counter
a_total 2

# HELP b B\\\\\\n.
# TYPE b gauge
b -0.5
# EOF
`,
    );
  });

  it('escapes label values, and formats infinity and NaN', async () => {
    const metrics = new Metrics();
    const samples = () => [
      { labels: { x: 'q"\\\n' }, value: Number.POSITIVE_INFINITY },
      { labels: { x: 1, y: '' }, value: Number.NaN },
    ];
    metrics.add({ name: 'g', help: 'G.', type: 'gauge', samples });
    const { text } = await metrics.page();
    assert.deepEqual(text.split('\n').slice(2, 4), [
      'g{x="q\\"\\\\\\n"} +Inf',
      'g{x="1",y=""} NaN',
    ]);
  });

  it('counts values into cumulative buckets with inclusive bounds', async () => {
    const histogram = new Histogram([1, 5]);
    assert.deepEqual(histogram.samples('h'), []);
    for (const value of [0, 1, 2, 7]) histogram.observe(value);
    const metrics = new Metrics();
    metrics.add({
      name: 'h',
      help: 'H.',
      type: 'histogram',
      samples: () => histogram.samples('h', { x: 1 }),
    });
    const { text } = await metrics.page();
    assert.deepEqual(text.split('\n').slice(2, 7), [
      'h_bucket{x="1",le="1"} 2',
      'h_bucket{x="1",le="5"} 3',
      'h_bucket{x="1",le="+Inf"} 4',
      'h_sum{x="1"} 10',
      'h_count{x="1"} 4',
    ]);
  });

  it('leaves out only the metrics that cannot be read', async () => {
    const metrics = new Metrics();
    metrics.gauge({ name: 'away', help: 'A.', read: () => Promise.reject(new Error('away')) });
    metrics.gauge({
      name: 'broken',
      help: 'B.',
      read() {
        throw new Error('broken');
      },
    });
    metrics.gauge({ name: 'here', help: 'H.', read: () => 1 });
    const { text } = await metrics.page();
    assert.equal(text, '# HELP here H.\n# TYPE here gauge\nhere 1\n# EOF\n');
  });

  it('lists the metrics of all parts on one page, with their part', async () => {
    const metrics = new Metrics();
    metrics.counter({ name: 'a_total', help: 'A.' });
    const part = metrics.part('tsdb');
    part.counter({ name: 'b_total', help: 'B.' });
    assert.throws(() => part.counter({ name: 'a_total', help: 'C.' }), /a_total/);
    const listed = metrics.registered.map((one) => [one.part, one.metric.name]);
    assert.deepEqual(listed, [
      ['server', 'a_total'],
      ['tsdb', 'b_total'],
    ]);
    assert.equal((await part.page()).text, (await metrics.page()).text);
  });

  it('derives the unit of a metric from its name', () => {
    const names = ['a_seconds', 'a_seconds_total', 'a_bytes', 'a_total', 'seconds_ago', 'bytes'];
    const units = ['seconds', 'seconds', 'bytes', undefined, undefined, undefined];
    assert.deepEqual(names.map(unitOf), units);
  });

  it('rejects two metrics with the same name', () => {
    const metrics = new Metrics();
    metrics.counter({ name: 'a_total', help: 'A.' });
    assert.throws(() => metrics.counter({ name: 'a_total', help: 'B.' }), /a_total/);
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
