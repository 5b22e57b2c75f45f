// Source: docs/adr/0009-short-writes-without-the-framework.md: public reads are answered before the HTTP server, and every byte is
// what the HTTP server would have answered (gamedata, sections 2.2 to 2.12). A header that nobody knows sends a request there.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RawConnection, ServerProcess } from '../../harness/index.js';

const TOKEN = 'token-of-the-editors';
const UNKNOWN_HEADER = 'X-Unknown: 1';

describe('A public read without the framework', () => {
  let server: ServerProcess;
  let etag: string;
  before(async () => {
    server = await ServerProcess.start({ flags: ['--services', 'gamedata', '--without-auth'] });
    etag = String((await server.http.send('/api/items')).headers['etag']);
  });
  after(() => server.close());

  interface Asked {
    readonly method?: string;
    readonly version?: string;
    readonly headers?: readonly string[];
  }

  const requestText = (target: string, { method = 'GET', version = '1.1', headers = [] }: Asked) =>
    `${[`${method} ${target} HTTP/${version}`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;

  const NEXT = 'GET /api/nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

  /** The whole answer without its date, however long; the connection's own end is part of it. */
  async function answerTo(target: string, asked: Asked): Promise<string> {
    using connection = await RawConnection.open(server.url);
    connection.send(requestText(target, asked));
    await connection.until(/\r\n\r\n/);
    const isLast = asked.version === '1.0' || asked.headers?.includes('Connection: close');
    if (!isLast) connection.send(NEXT);
    const text = await connection.untilEnd();
    const end = isLast ? -1 : text.lastIndexOf('HTTP/1.1 404 ');
    // After some wrong heads the server reads nothing more.
    return (end > 0 ? text.slice(0, end) : text).replace(/^date: .*\r\n/im, '');
  }

  const TARGETS = [
    ...['/', '/api', '/api/', '/api/items', '/api/items/', '/api/ammunition', '/api/traders'],
    ...['/api/quests', '/api/maps', '/api/hideout', '/api/item-presets', '/api/levels'],
    ...['/api/storyline', '/api/levels/1', '/api/levels/999', '/api/levels/x', '/api/items/nobody'],
    ...['/api/ammunition/calibers/list', '/api/items/categories/list', '/api/items/list/more'],
    ...['/api/items?limit=3', '/api/items?limit=3&offset=2', '/api/items?offset=2&limit=3'],
    ...['/api/items?limit=0', '/api/items?limit=-1', '/api/items?limit=5001', '/api/items?limit='],
    ...['/api/items?lang=de', '/api/items?lang=all', '/api/items?lang=xx', '/api/levels/2?lang=de'],
    ...['/api/items?colour=red', '/api/items?colour=red&strict=true', '/api/items?%F0%9F%92%A5=1'],
    ...['/api/items?fields=name,relations.soldBy', '/api/items?fields=none', '/api/items?ids=x,y'],
    ...['/api/items?version=1', '/api/items?version=9', '/api/items?search=%', '/api/items?'],
    ...['/api/quests?include=trader', '/api/items?q=(', '/api/items?q=rarity:rare&sort=-price'],
    ...['/api/search?q=key', '/api/search', '/api/suggest?q=ke', '/api/suggest?q=k'],
    ...['/api/versions', '/api/versions/1', '/api/versions/0', '/api/changes?since=0'],
    ...['/api/schemas', '/api/schemas/items', '/api/schemas/none', '/api/bulk'],
    ...['/api/openapi.json', '/api/bulk/v1/levels.json', '/api/bulk/latest/levels.json'],
    ...['/api/docs', '/api/nothing', '/API/items', '/api//items', '/api/items/..', '/api/items/.'],
    ...['/api/items/%00', '/api/items/%C3', `/api/items/${'x'.repeat(1025)}`, '/api/editor/types'],
    `/api/items?search=${'x'.repeat(8200)}`,
  ];

  it('gets the answer of the HTTP server at every path', { timeout: 120_000 }, async () => {
    for (const target of TARGETS) {
      for (const coding of [[], ['Accept-Encoding: gzip']]) {
        const answer = await answerTo(target, { headers: coding });
        const asked = { headers: [...coding, UNKNOWN_HEADER] };
        assert.equal(answer, await answerTo(target, asked), target);
        assert.match(answer, /^HTTP\/1\.1 \d{3} /, target);
        // The second time it comes from the cache, the third time its head does, too.
        for (const _ of [2, 3])
          assert.equal(answer, await answerTo(target, { headers: coding }), target);
      }
    }
  });

  it('gets the answer of the HTTP server whatever it says of itself', {
    timeout: 120_000,
  }, async () => {
    const bare = etag.slice(1, -1);
    const asked: readonly (readonly string[])[] = [
      ...['br', 'gzip', 'br;q=0.5, gzip;q=0.8', 'gzip;q=0', '*', 'identity;q=0, *;q=0'].map(
        (value) => [`Accept-Encoding: ${value}`],
      ),
      ...['identity;q=0', 'deflate', 'BR', 'x-gzip', ';', 'gzip;q=x', 'br;q=1.0001'].map(
        (value) => [`Accept-Encoding: ${value}`],
      ),
      ...[etag, `W/${etag}`, `"x", ${etag}`, '*', `"${bare}-br"`, `"${bare}-gz"`, bare, '"x"'].map(
        (value) => [`If-None-Match: ${value}`],
      ),
      [`If-None-Match: ${etag}`, 'Accept-Encoding: br'],
      ['If-None-Match: "x"', `If-None-Match: ${etag}`],
      ['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT'],
      ['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT', 'If-None-Match: "x"'],
      ['If-Modified-Since: yesterday'],
      ...['application/json', 'text/html, */*;q=0.1', 'image/png', '*/*;q=0', 'text/html'].map(
        (value) => [`Accept: ${value}`],
      ),
      ['Origin: https://fans.example', 'Referer: https://fans.example/a', 'Sec-Fetch-Mode: cors'],
      ['Origin: null'],
      ['Authorization: Bearer wrong'],
      ['Cookie: a=b; c=d'],
      ['Cookie: a=\xe9'],
      ['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-Proto: https', 'Via: 1.1 proxy'],
      ['Accept-Encoding:'],
      ['Accept-Encoding : gzip'],
      ['Content-Length: 0'],
      ['Connection: close'],
      ['Connection: Keep-Alive'],
    ];
    for (const target of ['/api/items', '/api/levels/1']) {
      for (const headers of asked) {
        const what = `${target} ${headers}`;
        const answer = await answerTo(target, { headers });
        assert.equal(
          answer,
          await answerTo(target, { headers: [...headers, UNKNOWN_HEADER] }),
          what,
        );
      }
      for (const more of [{ version: '1.0' }, { method: 'HEAD' }, { method: 'POST' }]) {
        const answer = await answerTo(target, more);
        const asHttp = await answerTo(target, { ...more, headers: [UNKNOWN_HEADER] });
        assert.equal(answer, asHttp, JSON.stringify(more));
      }
    }
    const unchanged = await answerTo('/api/items', { headers: [`If-None-Match: ${etag}`] });
    assert.match(unchanged, /^HTTP\/1\.1 304 Not Modified\r\n/);
  });

  it('keeps the connection for requests of every kind, in their order', async () => {
    using connection = await RawConnection.open(server.url);
    const level = (n: number, headers: readonly string[] = []) =>
      requestText(`/api/levels/${n}?fields=level`, { headers });
    const bodies = (count: number) =>
      new RegExp(`^(HTTP/1\\.1 200[\\s\\S]*?\\r\\n\\r\\n\\{[^{}]*\\}){${count}}$`);
    connection.send(level(1));
    await connection.until(bodies(1));
    connection.send(level(2));
    await connection.until(bodies(2));
    connection.send(level(3) + level(4) + level(5, [UNKNOWN_HEADER]) + level(6));
    const text = await connection.until(bodies(6));
    const levels = [...text.matchAll(/"level":(\d+)/g)].map(([, n]) => Number(n));
    assert.deepEqual(levels, [1, 2, 3, 4, 5, 6]);
  });

  it('takes a long answer as slowly as its client, and other clients do not wait', async () => {
    const whole = await server.http.send('/api/items?limit=5000');
    using slow = await RawConnection.open(server.url);
    slow.send(requestText('/api/items?limit=5000', {}));
    for (let n = 1; n <= 20; n += 1) {
      const { status } = await server.http.send(`/api/levels/${n}`);
      assert.equal(status, 200);
    }
    slow.send(requestText('/api/levels/1?fields=level', {}));
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
      for (const headers of [[], ['If-None-Match: *'], [UNKNOWN_HEADER]]) {
        await answerTo(target, { headers });
      }
      assert.equal(await counted(path), before + 3, path);
    }
  });

  it('tells a new version from the moment on that it is published', async () => {
    const flags = ['--services', 'gamedata', '--gamedata-admin-token', TOKEN];
    await using own = await ServerProcess.start({ flags });
    using connection = await RawConnection.open(own.url);
    const ask = () => connection.send(requestText('/api/levels/1?fields=title', {}));
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
