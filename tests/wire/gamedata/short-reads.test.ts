// Source: gamedata, sections 2.2 to 2.12; docs/adr/0090-one-road-for-a-request.md: reads that come one after the other on a
// connection, read by whichever transport.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RawConnection, ServerProcess } from '../../harness/index.js';

const TOKEN = 'token-of-the-editors';
/** Leaves a request to the HTTP server. */
const NOT_FAST = 'TE: trailers';

describe('A short public read', () => {
  let server: ServerProcess;
  before(async () => {
    server = await ServerProcess.start({ flags: ['--services', 'gamedata', '--without-auth'] });
  });
  after(() => server.close());

  const requestText = (target: string, headers: readonly string[] = []) =>
    `${[`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;

  it('keeps the connection for requests of every kind, in their order', async () => {
    using connection = await RawConnection.open(server.url);
    const level = (n: number, headers: readonly string[] = []) =>
      requestText(`/api/levels/${n}?fields=level`, headers);
    const bodies = (count: number) =>
      new RegExp(`^(HTTP/1\\.1 200[\\s\\S]*?\\r\\n\\r\\n\\{[^{}]*\\}){${count}}$`);
    connection.send(level(1));
    await connection.until(bodies(1));
    connection.send(level(2));
    await connection.until(bodies(2));
    connection.send(level(3) + level(4) + level(5, [NOT_FAST]) + level(6));
    const text = await connection.until(bodies(6));
    const levels = [...text.matchAll(/"level":(\d+)/g)].map(([, n]) => Number(n));
    assert.deepEqual(levels, [1, 2, 3, 4, 5, 6]);
  });

  it('takes a long answer as slowly as its client, and other clients do not wait', async () => {
    const whole = await server.http.send('/api/items?limit=5000');
    using slow = await RawConnection.open(server.url);
    slow.send(requestText('/api/items?limit=5000'));
    for (let n = 1; n <= 20; n += 1) {
      const { status } = await server.http.send(`/api/levels/${n}`);
      assert.equal(status, 200);
    }
    slow.send(requestText('/api/levels/1?fields=level'));
    const text = await slow.until(/\}HTTP\/1\.1 200 [\s\S]*\r\n\r\n\{[^{}]*\}$/);
    assert.ok(text.includes(whole.text.slice(-200)));
  });

  it('is counted once, by its route', async () => {
    const counted = async (path: string): Promise<number> => {
      const { text } = await server.http.send('/metrics');
      const line = `http_requests_total{method="GET",path="${path}",status="ok"} `;
      const found = text.split('\n').find((one) => one.startsWith(line));
      return Number(found?.slice(line.length) ?? 0);
    };
    for (const [target, path] of [
      ['/api/items', '/api/items'],
      ['/api/levels/3', '/api/levels/:level'],
    ] as const) {
      const before = await counted(path);
      for (const headers of [{}, { 'if-none-match': '*' }, { te: 'trailers' }]) {
        await server.http.send(target, { headers });
      }
      assert.equal(await counted(path), before + 3, path);
    }
  });

  it('tells a new version from the moment on that it is published', async () => {
    const flags = ['--services', 'gamedata', '--gamedata-admin-token', TOKEN];
    await using own = await ServerProcess.start({ flags });
    using connection = await RawConnection.open(own.url);
    const ask = () => connection.send(requestText('/api/levels/1?fields=title'));
    ask();
    await connection.until(/x-data-version: 1\r\n[\s\S]*\}$/);
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const change = await own.http.send('/api/editor/levels/1', {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ title: 'Newly named' }),
    });
    assert.equal(change.status, 200, change.text);
    ask();
    await connection.until(
      /x-data-version: 1\r\n[\s\S]*\}HTTP[\s\S]*x-data-version: 1\r\n[\s\S]*\}$/,
    );
    const saved = await own.http.send('/api/editor/save/levels', { method: 'POST', headers });
    assert.equal(saved.status, 200, saved.text);
    ask();
    await connection.until(/x-data-version: 2\r\n[\s\S]*"title":"Newly named"\}$/);
  });
});
