// Source: tsdb-http, "v2 error body" (retry hints) and "Server options users rely on" (a full buffer).
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
      const answer = await write(server, { api, db: 'full' }, body);
      assert.equal(answer.status, 503, answer.text);
      assert.equal(answer.headers['content-type'], 'application/json');
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    }
    assertEmpty(await write(server, { db: 'full' }, 'm f=1 1'));
    assert.deepEqual(await rows(server, 'full', 'SELECT count(*) AS n FROM m'), [{ n: 1 }]);
  });
});
