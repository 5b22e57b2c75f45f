// Source: tsdb-http, "Prometheus remote write" and "Prometheus remote read". Debian's Prometheus is the sender, the reader and the PromQL
// engine of both, so that what it kept itself is compared with what it reads from here. Own process: it is killed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ServerProcess } from '../../harness/index.js';
import { NO_PROMETHEUS, PrometheusProcess } from './prometheus-process.js';

const PHASE_MS = 4000;
const SETTLE_TIMEOUT_MS = 60_000;
const SELECTOR = '{__name__=~"test_.+|up"}';
const QUERIES = [
  'sum by (path) (rate(test_requests_total[1s]))',
  'histogram_quantile(0.9, sum by (le) (rate(test_latency_seconds_bucket[1s])))',
  'test_sometimes',
  'test_summary{quantile="0.99"}',
  'count(test_limit == Inf)',
  'up',
];

/** A page whose series `test_sometimes` is on every other dozen of scrapes. */
function metricsPage(scrape: number): string {
  const buckets = [0.1, 1, Number.POSITIVE_INFINITY].map((le, i) => {
    const text = le === Number.POSITIVE_INFINITY ? '+Inf' : String(le);
    return `test_latency_seconds_bucket{le="${text}"} ${scrape * (i + 1)}`;
  });
  const paths = ['/', '/ü "x"\\n', '/a,b=c d'].map(
    (path, i) =>
      `test_requests_total{path="${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"} ${scrape * (i + 1) + i / 7}`,
  );
  return [
    ...paths,
    ...buckets,
    'test_limit +Inf',
    `test_temperature ${Math.sin(scrape) * 1e-7}`,
    'test_summary{quantile="0.99"} NaN',
    ...(Math.floor(scrape / 12) % 2 === 0 ? [`test_sometimes ${scrape}`] : []),
    '',
  ].join('\n');
}

it('PromQL over stored samples equals PromQL of the sender, also after kill -9 of both', {
  skip: NO_PROMETHEUS,
  timeout: 240_000,
}, async () => {
  let scrape = 0;
  const page = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(metricsPage(scrape++));
  }).listen(0, '127.0.0.1');
  await once(page, 'listening');
  const target = `127.0.0.1:${(page.address() as AddressInfo).port}`;
  const flags = ['--without-auth', '--http-bind', `127.0.0.1:${await freePort()}`];
  let server = await ServerProcess.start({ flags });
  const { dataDir, url } = server;
  const labels = 'global: { external_labels: { site: test } }';
  await using sender = await PrometheusProcess.start(
    `${labels}
scrape_configs:
  - { job_name: page, scrape_interval: 200ms, scrape_timeout: 200ms, static_configs: [{ targets: ['${target}'] }] }
remote_write:
  - url: ${url}/api/v1/write
    queue_config: { batch_send_deadline: 100ms, min_backoff: 50ms, max_backoff: 200ms }
`,
  );
  await using reader = await PrometheusProcess.start(
    `${labels}\nremote_read: [{ url: '${url}/api/v1/read', read_recent: true }]\n`,
  );
  try {
    const begin = await firstStored(reader, 0);
    await sleep(PHASE_MS);
    await server.kill();
    await sleep(1000);
    server = await ServerProcess.start({ flags, dataDir });
    await sleep(PHASE_MS);
    const killed = Date.now() / 1000;
    await assertSame(sender, reader, { from: begin, to: killed });

    await sender.kill();
    await sender.restart();
    const restarted = await firstStored(reader, Date.now() / 1000);
    await sleep(PHASE_MS);
    const end = Date.now() / 1000;
    await assertSame(sender, reader, { from: restarted, to: end });

    // The page is away: a stale marker ends each of its series.
    page.closeAllConnections();
    page.close();
    await sleep(1500);
    const last = Date.now() / 1000;
    for (const query of ['test_temperature', 'up'])
      await untilEqual(
        () => sender.queryRange(query, { from: restarted, to: last, step: 0.5 }),
        () => reader.queryRange(query, { from: restarted, to: last, step: 0.5 }),
      );
    const after = await reader.queryRange('test_temperature', { from: last, to: last, step: 1 });
    assert.deepEqual(after, []);
    // Prometheus does not send again what it had scraped before it was killed, so some samples of
    // that moment may be missing. All other samples are stored.
    const sent = await sender.samples(SELECTOR, { from: begin, to: last });
    const stored = await reader.samples(SELECTOR, { from: begin, to: last });
    assert.deepEqual([...stored.keys()].sort(), [...sent.keys()].sort());
    for (const [series, samples] of stored) {
      const known = new Set(sent.get(series)?.map(String));
      assert.deepEqual(
        samples.filter((sample) => !known.has(String(sample))),
        [],
        series,
      );
    }
  } finally {
    page.close();
    await server.close();
  }
});

/**
 * Time of the first sample after `since` that is stored. Prometheus sends what it scrapes some
 * seconds after its start.
 */
async function firstStored(reader: PrometheusProcess, since: number): Promise<number> {
  const deadlineMs = Date.now() + SETTLE_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    const to = Date.now() / 1000;
    const samples = await reader
      .samples('up', { from: Math.max(since, to - 60), to })
      .catch(ignoreUnknown);
    for (const [first] of samples?.values() ?? []) if (first !== undefined) return first[0];
    await sleep(100);
  }
  throw new Error('nothing was stored');
}

/** The first write creates the database. */
function ignoreUnknown(error: Error): undefined {
  if (!error.message.includes('database not found')) throw error;
}

/** Compares all samples of a time range, and queries over it. */
async function assertSame(
  sender: PrometheusProcess,
  reader: PrometheusProcess,
  range: { readonly from: number; readonly to: number },
): Promise<void> {
  const samplesOf = async (from: PrometheusProcess) => {
    const samples = await from.samples(SELECTOR, range);
    assert.ok(
      samples.size >= 9,
      `${samples.size} series of ${from === sender ? 'the sender' : 'the reader'}`,
    );
    return new Map([...samples].sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  await untilEqual(
    () => samplesOf(sender),
    () => samplesOf(reader),
  );
  // Queries look back at most one second, because samples from the moment of the kill may be missing.
  const inside = { from: range.from + 1, to: range.to, step: 0.5 };
  for (const query of QUERIES) {
    const expected = await sender.queryRange(query, inside);
    assert.ok(expected.length > 0, query);
    assert.deepEqual(await reader.queryRange(query, inside), expected, query);
  }
}

/** The sender sends after it has scraped. */
async function untilEqual<T>(expected: () => Promise<T>, actual: () => Promise<T>): Promise<void> {
  const deadlineMs = Date.now() + SETTLE_TIMEOUT_MS;
  for (;;) {
    try {
      assert.deepEqual(await actual(), await expected());
      return;
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await sleep(200);
    }
  }
}
