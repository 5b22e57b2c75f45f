// Source: tsdb-http, "v2 error body" (retry hints) and "Server options users rely on" (a full buffer).
// Own process: its flushes have to keep up with writes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, rows, ServerProcess, WRITE_APIS, write } from '../../harness/index.js';

const BUFFER_LIMIT_BYTES = 1_048_576;
let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({
    flags: ['--without-auth', '--tsdb-buffer-limit-bytes', String(BUFFER_LIMIT_BYTES)],
  });
});
after(async () => await server.close());

describe('a write that the buffer has no room for', () => {
  it('W-01 is answered 503 with the time after which to come again, and is not stored', async () => {
    const body = `m s="${'x'.repeat(BUFFER_LIMIT_BYTES)}" 1`;
    for (const api of WRITE_APIS) {
      const response = await write(server, { api, db: 'full' }, body);
      assert.equal(response.status, 503, response.text);
      assert.equal(response.headers['content-type'], 'application/json');
      assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    }
    assertEmpty(await write(server, { db: 'full' }, 'm f=1 1'));
    assert.deepEqual(await rows(server, 'full', 'SELECT count(*) AS n FROM m'), [{ n: 1 }]);
  });
});

describe('writes that come faster than rows are put into segments', () => {
  it('wait for room, and none is refused', async () => {
    // A flush of the full buffer must take less than the two seconds that a write waits, also on a busy machine.
    const limitBytes = 2 * BUFFER_LIMIT_BYTES;
    await using small = await ServerProcess.start({
      flags: ['--without-auth', '--tsdb-buffer-limit-bytes', String(limitBytes)],
    });
    const rowCount = 500;
    const write4 = async (writer: number): Promise<void> => {
      for (let body = 0; body < 30; body++) {
        const lines = Array.from({ length: rowCount }, (_, row) => {
          const fields = Array.from({ length: 16 }, (_, f) => `f${f}=${row}.${f}`);
          return `m,w=${writer} ${fields.join(',')} ${(body * rowCount + row + 1) * 1000}`;
        });
        assertEmpty(await write(small, { db: 'burst' }, lines.join('\n')));
      }
    };
    await Promise.all([0, 1, 2, 3].map(write4));
    const expected = [{ n: 4 * 30 * rowCount }];
    assert.deepEqual(await rows(small, 'burst', 'SELECT count(f15) AS n FROM m'), expected);
  });
});
