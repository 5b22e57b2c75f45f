// Source: tsdb-http, section 10 (names), Prometheus' rules for names and units.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type RunningServer, readSettings, startServer } from './start-server.js';

const RUNNING = 'query_log_phase_current{phase="permit"}';

let server: RunningServer;
before(async () => {
  const flags = new Map([
    ['http-bind', '127.0.0.1:0'],
    ['object-store', 'memory'],
    ['without-auth', 'true'],
  ]);
  const settings = readSettings({ env: {}, flags });
  server = await startServer({ settings, logDestination: { write() {} } });
});
after(() => server.close());

const readMetrics = async (): Promise<ReadonlyMap<string, number>> => {
  const page = await (await fetch(`${server.address.url}/metrics`)).text();
  const samples = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
};

const query = async (text: string): Promise<number> => {
  const parameters = new URLSearchParams({ db: 'd', q: text });
  const response = await fetch(`${server.address.url}/api/v3/query_sql?${parameters}`);
  await response.arrayBuffer();
  return response.status;
};

it('counts lines, bytes and queries, and shows what is in memory and in the log', async () => {
  const body = 'm,t=a v=1 1\nm,t=b v=2 2\nm v=\n';
  const url = `${server.address.url}/api/v3/write_lp?db=d&precision=nanosecond`;
  await (await fetch(url, { method: 'POST', body })).arrayBuffer();
  assert.equal(await query('SELECT * FROM m'), 200);
  assert.notEqual(await query('SELECT nothing FROM m'), 200);
  let metrics = await readMetrics();
  // The client can receive the response before the statement counts as finished.
  for (let tries = 0; tries < 100 && metrics.get(RUNNING) !== 0; tries += 1) {
    await setTimeout(20);
    metrics = await readMetrics();
  }
  const expected: Record<string, number> = {
    influxdb3_write_lines_total: 2,
    influxdb3_write_lines_rejected_total: 1,
    influxdb3_write_bytes_total: body.length,
    'query_log_phase_entered_total{phase="success"}': 1,
    'query_log_phase_entered_total{phase="fail"}': 1,
    'query_log_phase_entered_total{phase="cancel"}': 0,
    'query_log_phase_current{phase="received"}': 0,
    [RUNNING]: 0,
    query_log_end2end_duration_seconds_count: 2,
    plinth_tsdb_tables: 1,
    plinth_tsdb_segments: 0,
    plinth_tsdb_segment_bytes: 0,
    plinth_tsdb_flushes_total: 0,
    plinth_tsdb_flushes_failed_total: 0,
    plinth_tsdb_compactions_total: 0,
    plinth_tsdb_read_only: 0,
    plinth_tsdb_direct_queries_total: 1,
  };
  for (const [name, value] of Object.entries(expected))
    assert.equal(metrics.get(name), value, name);
  assert.ok((metrics.get('plinth_tsdb_buffered_bytes') ?? 0) > 0);
  assert.ok((metrics.get('plinth_tsdb_log_bytes') ?? 0) > 0);
  // Timestamps and values of two rows, which the query has loaded into memory.
  assert.ok((metrics.get('plinth_tsdb_column_cache_bytes') ?? 0) >= 2 * (8 + 8));
});
