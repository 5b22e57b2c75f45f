// Source: tsdb-http, "Transport and common behaviour", "Authentication and authorisation", "Parameter rules".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  query,
  RawConnection,
  ServerProcess,
} from '../../harness/index.js';

let open: ServerProcess;
let closed: ServerProcess;
before(async () => {
  [open, closed] = await Promise.all([
    ServerProcess.start(),
    ServerProcess.start({ flags: ['--disable-authz', 'health'] }),
  ]);
});
after(async () => {
  await Promise.all([open.close(), closed.close()]);
});

const NOT_FOUND = 'Not found';
const NOT_AUTHENTICATED = 'the request was not authenticated';

describe('a path that does not exist', () => {
  const post = (server: ServerProcess, path: string, body: string) =>
    server.http.send(path, { body, headers: { 'content-type': 'application/json' } });

  it('is 404 whatever the body is', async () => {
    for (const body of ['', '{', 'null', 'x'.repeat(2_000_000)]) {
      assertError(await post(open, '/api/v3/nothing', body), 404, NOT_FOUND);
      assertError(await post(open, '/health', body), 404, NOT_FOUND);
    }
  });

  it('is 401 without a token, whatever the body is', async () => {
    assertError(await post(closed, '/api/v3/nothing', '{'), 401, NOT_AUTHENTICATED);
  });

  it('is no other thing when it cannot be decoded', async () => {
    for (const path of ['/%zz', '/api/v3/%', '/%ff%fe']) {
      assertError(await open.http.send(path), 404, NOT_FOUND);
      assertError(await closed.http.send(path), 401, NOT_AUTHENTICATED);
      assertEmpty(await closed.http.send(path, { method: 'OPTIONS' }));
    }
  });
});

describe('what is no HTTP', () => {
  it('is answered with the headers of every answer', async () => {
    const uuid = String((await open.http.send('/health')).headers['cluster-uuid']);
    const requests: readonly (readonly [string, number])[] = [
      ['GET\r\n\r\n', 400],
      ['POST /write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
      [`GET /health HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
    ];
    for (const [text, status] of requests) {
      using connection = await RawConnection.open(open.url);
      connection.send(text);
      const answer = await connection.untilEnd();
      assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer);
      assert.ok(answer.includes(`\r\ncluster-uuid: ${uuid}\r\n`), answer);
      assert.ok(answer.includes('\r\naccess-control-allow-origin: *\r\n'), answer);
    }
  });
});

describe('times at the end of 64 bits', () => {
  // Source: query-languages, "Data model seen by both languages": what is acknowledged can be found again.
  it('are kept when a query can find them', async () => {
    const body = 'edge f=1 9223372036854775806\nedge f=2 -9223372036854775806';
    assertEmpty(await open.http.send('/api/v3/write_lp?db=edge&precision=ns', { body }));
    assert.equal(
      await query(open, { db: 'edge', q: 'SELECT f, time FROM edge ORDER BY f', format: 'csv' }),
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
        const answer = await open.http.send(path, { body: `edge f=4 5\n${original_line}` });
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
