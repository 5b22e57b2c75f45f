// Source: tsdb-http, "Result formats" and "Failures" of the native query endpoints.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, assertError, SharedServer } from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
  assertEmpty(await server.http.send('/api/v3/write_lp?db=limited', { body: 'cpu f=1 1' }));
});
after(async () => await server.close());

const send = (q: string, format = 'json') =>
  server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: 'limited', q, format })}`);

describe('pretty tables', () => {
  it('of empty cells without end fail alone, instead of taking all memory', async () => {
    assertError(
      await send('SELECT NULL AS a FROM generate_series(1, 20000000)', 'pretty'),
      400,
      "query error: error while executing plan: the result exceeds 268435456 bytes in the 'pretty' format; " +
        "use 'csv' or 'jsonl', or add a LIMIT clause",
    );
    assert.equal((await send('SELECT 1 AS a')).status, 200);
  });

  it('of many rows are drawn whole, all rows as wide as the widest', async () => {
    const { status, text } = await send('SELECT value FROM generate_series(1, 20000)', 'pretty');
    assert.equal(status, 200);
    const rule = '+-------+';
    const rows = Array.from({ length: 20_000 }, (_, n) => `| ${String(n + 1).padEnd(5)} |`);
    assert.equal(text, [rule, '| value |', rule, ...rows, rule, ''].join('\n'));
  });
});

describe('lists', () => {
  it('that are too long to be handed out fail alone, instead of stopping the server', async () => {
    const refusal =
      'query error: error while executing plan: Resources exhausted: lists in up to 2048 result rows contain more than 500000 values; ' +
      'unnest them, or query fewer rows';
    const ask = (columns: string, count: number, format?: string) =>
      send(`SELECT ${columns} FROM generate_series(1, ${count})`, format);
    for (const format of ['json', 'json_rows', 'jsonl', 'pretty']) {
      assertError(await ask('array_agg(value) AS a', 500_001, format), 400, refusal);
    }
    for (const columns of [
      "named_struct('a', array_agg(value)) AS a",
      'make_array(array_agg(value)) AS a',
    ]) {
      const response = await ask(columns, 500_001);
      assert.equal(response.status, 400, columns);
      assertError(response, 400, refusal);
    }
    // The values of all columns count together.
    const both = await ask('array_agg(value) AS a, array_agg(value) AS b', 250_001);
    assert.equal(both.status, 400);
    assert.equal((await ask('array_agg(value) AS a', 500_000)).status, 200);
    const { text } = await send('SELECT array_agg(value) AS a FROM generate_series(1, 3)');
    assert.ok(text.includes('[[[1,2,3]]]'), text);
  });
});
