// Source: query-languages, "Data model seen by both languages": what is acknowledged can be found again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, query, ServerProcess } from '../../harness/index.js';

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start();
});
after(async () => await server.close());

describe('times at the end of 64 bits', () => {
  it('are kept when a query can find them', async () => {
    const body = 'edge f=1 9223372036854775806\nedge f=2 -9223372036854775806';
    assertEmpty(await server.http.send('/api/v3/write_lp?db=edge&precision=ns', { body }));
    assert.equal(
      await query(server, { db: 'edge', q: 'SELECT f, time FROM edge ORDER BY f', format: 'csv' }),
      'f,time\n1.0,2262-04-11T23:47:16.854775806\n2.0,1677-09-21T00:12:43.145224194\n',
    );
  });

  it('are refused when no query can find them', async () => {
    for (const [precision, name] of [
      ['auto', 'Auto'],
      ['nanosecond', 'Nanosecond'],
    ]) {
      for (const time of [2n ** 63n - 1n, 1n - 2n ** 63n, -(2n ** 63n)]) {
        const original_line = `edge f=3 ${time}`;
        const path = `/api/v3/write_lp?db=edge&precision=${precision}`;
        const answer = await server.http.send(path, { body: `edge f=4 5\n${original_line}` });
        assert.equal(answer.status, 400);
        assert.deepEqual(JSON.parse(answer.text), {
          error: 'partial write of line protocol occurred',
          data: [
            {
              original_line,
              line_number: 2,
              error_message: `timestamp, ${time}, out of range for precision: ${name}`,
            },
          ],
        });
      }
    }
  });
});
