// Source: docs/TOKENS.md, "Permissions": a reader cannot block other readers; query-languages, "Guards".
// Own process: all of its threads are used.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, ServerProcess, tokensThatRead } from '../../harness/index.js';

/** A query that never ends. */
const ENDLESS = 'SELECT count(*) FROM cpu a, cpu b, cpu c WHERE a.n + b.n + c.n < 0';
/** A query that needs DuckDB. */
const JOINED = 'SELECT count(*) AS n FROM cpu a JOIN cpu b ON a.n = b.n';
const ROW_COUNT = 5000;
const RUNNING = `SELECT count(*) AS n FROM system.queries WHERE running AND query_text = '${ENDLESS}'`;
/** More than the query slots and than the concurrent DuckDB calls. */
const MANY = 80;

it('one token with many endless statements keeps no other token waiting for DuckDB', async () => {
  await using server = await ServerProcess.start({ flags: ['--shutdown-timeout', '1s'] });
  const { admin, greedy, modest } = await tokensThatRead(server, 'd', ['greedy', 'modest']);
  const body = Array.from({ length: ROW_COUNT }, (_, i) => `cpu n=${i}i ${i + 1}`).join('\n');
  const path = '/api/v3/write_lp?db=d&precision=ns';
  const written = await server.http.send(path, { headers: admin, body });
  assert.equal(written.status, 204, written.text);

  const ask = async (
    headers: { readonly authorization: string },
    text: string,
    format = 'json_rows',
  ) => {
    const http = new HttpClient(server.url);
    try {
      const query = new URLSearchParams({ db: 'd', q: text, format });
      return await http.send(`/api/v3/query_sql?${query}`, { headers });
    } finally {
      http.close();
    }
  };
  let endedCount = 0;
  const flood = Array.from({ length: MANY }, () =>
    ask(greedy, ENDLESS)
      .catch(() => undefined)
      .finally(() => endedCount++),
  );
  for (let count = 0; count < MANY; await sleep(100)) {
    const listed = await ask(admin, RUNNING);
    assert.equal(listed.status, 200, listed.text);
    count = JSON.parse(listed.text)[0].n;
  }
  for (const format of ['json_rows', 'parquet']) {
    const response = await ask(modest, JOINED, format);
    assert.equal(response.status, 200, response.text);
    if (format === 'json_rows') assert.deepEqual(JSON.parse(response.text), [{ n: ROW_COUNT }]);
  }
  // The timeout is much longer, so these queries did not wait for an endless query.
  const together = await Promise.all(Array.from({ length: 4 }, () => ask(modest, JOINED)));
  for (const { text } of together) assert.deepEqual(JSON.parse(text), [{ n: ROW_COUNT }]);
  assert.equal(endedCount, 0);
  await server.kill();
  await Promise.all(flood);
});
