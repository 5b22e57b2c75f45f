// Source: docs/adr/0155: memory used by statements is available again when they have ended for any reason.
// Own process: all of its threads are used.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../../harness/index.js';

const FLAGS = ['--without-auth', '--tsdb-query-memory-bytes', '96MiB'];
const ROW_COUNT = 60_000;
const CONNECTIONS = 6;
const ROUNDS = 20;
const FLUSH_MS = 30_000;

/** Each sorts long strings within groups, more than fit into DuckDB's memory. */
const STATEMENTS = [
  `SELECT h, array_agg(id ORDER BY x DESC) AS a, array_agg(x || repeat('k', 200) ORDER BY y) AS b FROM m GROUP BY h`,
  `SELECT h, array_agg(x || repeat('k', 400) ORDER BY y) AS a FROM m GROUP BY h`,
  `SELECT h, array_agg(id ORDER BY x || repeat('k', 400) DESC, y) AS a FROM m GROUP BY h`,
  `SELECT h, string_agg(x || repeat('w', 400), ',' ORDER BY y DESC) AS a FROM m GROUP BY h`,
  `SELECT h, corr(y, id ORDER BY x || repeat('c', 400)) AS a FROM m GROUP BY h`,
];

async function write(server: ServerProcess, from: number): Promise<void> {
  const body = Array.from({ length: ROW_COUNT }, (_, i) => {
    const id = from + i;
    return `m,h=h${id % 37} id=${id}i,x="${'abc'.repeat(10)}${id}",y=${id * 0.5} ${id + 1}`;
  }).join('\n');
  const response = await server.http.send('/api/v3/write_lp?db=d&precision=ns', { body });
  assert.equal(response.status, 204, response.text);
}

async function flush(server: ServerProcess): Promise<void> {
  const endMs = performance.now() + FLUSH_MS;
  for (;;) {
    await server.http.send('/ops/v1/tsdb/storage/flush', { method: 'POST' });
    await sleep(500);
    const { text } = await server.http.send('/ops/v1/tsdb/storage');
    const { buffered_bytes: bytes, flush } = JSON.parse(text);
    if (bytes === 0) return;
    assert.ok(performance.now() < endMs, `${bytes} bytes wait: ${JSON.stringify(flush.last)}`);
  }
}

describe('rows that come behind statements that had no memory', () => {
  it('are flushed, and can be read, without a restart', async () => {
    await using server = await ServerProcess.start({ flags: FLAGS });
    await write(server, 0);
    let failed = 0;
    const asking = Array.from({ length: CONNECTIONS }, async (_, k) => {
      for (let i = 0; i < ROUNDS; i++) {
        const q = STATEMENTS[(k + i) % STATEMENTS.length] as string;
        const path = `/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'csv' })}`;
        const status = await server.http.send(path).then(
          (response) => response.status,
          () => 500, // Cut after its first rows.
        );
        if (status !== 200) failed++;
      }
    });
    await Promise.all(asking);
    assert.ok(failed > 0, 'the statements had memory enough');
    await write(server, ROW_COUNT);
    await flush(server);
    const q = 'SELECT count(*) AS n, sum(id) AS s FROM m';
    const { text } = await server.http.send(
      `/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'jsonl' })}`,
    );
    const n = 2 * ROW_COUNT;
    assert.deepEqual(JSON.parse(text), { n, s: (n * (n - 1)) / 2 });
  });
});
