// Source: gamedata, sections 2.1 to 2.13; docs/adr/0090-one-request-pipeline.md: one path of each
// kind of public read, over each transport. The rules are tested next to the routes.
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  RawConnection,
  ServerInProcess,
  temporaryFolder,
  WITH_SAMPLE_DATA,
} from '../../harness/index.js';
import { refused } from './game-client.js';

/** Makes Node's HTTP server process the request. */
const NOT_FAST = 'TE: trailers';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';

const requestText = (target: string, headers: readonly string[] = []) =>
  `${[`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;

describe('a public read', () => {
  let dataDir = '';
  let server: ServerInProcess;
  before(async () => {
    dataDir = await temporaryFolder();
    const images = join(dataDir, 'gamedata', 'images');
    await mkdir(images, { recursive: true });
    await writeFile(join(images, 'page.svg'), SVG);
    await writeFile(join(dataDir, 'secret.png'), 'x');
    await symlink(dataDir, join(images, 'out'));
    // Own server: it has an image folder, and no tokens.
    server = await ServerInProcess.start({
      dataDir,
      flags: ['--services', 'gamedata', '--without-auth'],
      env: WITH_SAMPLE_DATA,
    });
  });
  after(() => server.close());

  it('has the same response on each transport', async () => {
    for (const [path, type] of [
      ['/', 'application/json; charset=utf-8'],
      ['/api/items?limit=5&lang=fr', 'application/json; charset=utf-8'],
      ['/api/items/?q=category:key', 'application/json; charset=utf-8'],
      ['/api/traders/odile-varn', 'application/json; charset=utf-8'],
      ['/api/items/categories/list', 'application/json; charset=utf-8'],
      ['/api/search?q=odile', 'application/json; charset=utf-8'],
      ['/api/suggest?q=odi', 'application/json; charset=utf-8'],
      ['/api/versions/1', 'application/json; charset=utf-8'],
      ['/api/changes?since=0', 'application/json; charset=utf-8'],
      ['/api/bulk/v1/items.ndjson', 'application/x-ndjson; charset=utf-8'],
      ['/api/schemas/items', 'application/json; charset=utf-8'],
      ['/api/openapi.json', 'application/json; charset=utf-8'],
      ['/api/docs', 'text/html; charset=utf-8'],
      ['/images/page.svg', 'image/svg+xml'],
    ] as const) {
      const [fast, slow] = [
        await server.http.send(path),
        await server.http.send(path, { headers: { te: 'trailers' } }),
      ];
      assert.deepEqual([fast.status, fast.headers['content-type']], [200, type], path);
      assert.deepEqual([slow.status, slow.text], [200, fast.text], path);
      assert.equal(slow.headers['etag'], fast.headers['etag'], path);
      assert.equal(fast.headers['x-ratelimit-limit'], undefined, 'limited only when configured');
    }
  });

  it('is refused in the format of game data', async () => {
    await refused(server, '/api/items?limit=x', 'invalid_parameter', 'limit');
    await refused(server, '/api/items?lang=xx', 'unknown_language', 'lang');
    for (const [path, method, status, code] of [
      ['/api/items/nobody', 'GET', 404, 'not_found'],
      ['/api/Items', 'GET', 404, 'not_found'],
      ['/api/items', 'POST', 405, 'method_not_allowed'],
      ['/api/items/%00', 'GET', 400, 'invalid_parameter'],
      ['/api/items?version=99', 'GET', 404, 'unknown_version'],
      [`/api/items?x=${'a'.repeat(9000)}`, 'GET', 414, 'uri_too_long'],
    ] as const) {
      const response = await server.http.send(path, { method });
      assert.deepEqual([response.status, JSON.parse(response.text).code], [status, code], path);
      assert.equal(response.headers['allow'], status === 405 ? 'GET, HEAD, OPTIONS' : undefined);
    }
  });

  it('returns the headers of GET for HEAD', async () => {
    for (const path of ['/api/items?limit=3', '/images/page.svg']) {
      const whole = await server.http.send(path);
      const head = await server.http.send(path, { method: 'HEAD' });
      assert.deepEqual([head.status, head.text], [200, '']);
      assert.equal(head.headers['content-length'], String(whole.bytes.length));
      assert.equal(whole.headers['content-length'], String(whole.bytes.length));
      assert.equal(head.headers['etag'], whole.headers['etag']);
    }
  });

  it('is compressed, and not sent to a client that has it', async () => {
    const plain = await server.http.send('/api/quests');
    for (const [coding, unpack] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const headers = { 'accept-encoding': coding };
      const response = await server.http.send('/api/quests', { headers });
      assert.equal(response.headers['content-encoding'], coding);
      assert.equal(response.headers['content-length'], String(response.bytes.length));
      assert.ok(unpack(response.bytes).equals(plain.bytes));
      const known = { ...headers, 'if-none-match': String(response.headers['etag']) };
      const unchanged = await server.http.send('/api/quests', { headers: known });
      assert.deepEqual([unchanged.status, unchanged.text], [304, '']);
    }
  });

  it('is allowed from pages of any origin', async () => {
    const origin = 'https://fan.example';
    const { headers } = await server.http.send('/api/items', { headers: { origin } });
    assert.equal(headers['access-control-allow-origin'], '*');
    const preflight = await server.http.send('/api/items', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers['access-control-allow-methods'], 'GET, HEAD, OPTIONS');
  });

  it('of an image never returns another file, in any form of its path', async () => {
    for (const path of [
      '/images/out/secret.png',
      '/images/../secret.png',
      '/images/..%2f..%2fsecret.png',
      '/images/%2e%2e/%2e%2e/secret.png',
      '/images/items%5c..%5c..%5csecret.png',
      '/images/items/%00.png',
      `/images/${'a/'.repeat(2000)}b.png`,
    ]) {
      using connection = await RawConnection.open(server.url);
      connection.send(requestText(path, ['Connection: close']));
      const text = await connection.untilEnd();
      assert.match(text, /^HTTP\/1\.1 4(?:00|04) /, `${path}: ${text.slice(0, 200)}`);
      assert.doesNotMatch(text, /plinth-images|ENOENT/, path);
    }
  });

  it('keeps the connection open for requests of every kind, in order', async () => {
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

  it('sends a long response at the speed of its client without delaying other clients', async () => {
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
});
