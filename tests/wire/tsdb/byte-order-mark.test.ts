// Source: tsdb-http, "Splitting into lines": the bytes of a string field are stored as sent.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertEmpty, query, SharedServer } from '../../harness/index.js';

it('keeps U+FEFF at the beginning of short and long texts', async () => {
  const server = await SharedServer.get();
  try {
    const text = '\ufeffa text of more than twelve bytes';
    const body = `m short="\ufeffb",long="${text}" 1`;
    assertEmpty(await server.http.send('/api/v3/write_lp?db=marked', { body }));
    const response = await query(server, {
      db: 'marked',
      q: 'SELECT short, long FROM m',
      format: 'jsonl',
    });
    assert.deepEqual(JSON.parse(response), { short: '\ufeffb', long: text });
  } finally {
    await server.close();
  }
});
