// Source: gamedata, sections 2.10, 2.11 and 4.3; RFC 9110, sections 8.8.2.2 and 13.1.3.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Envelope, TestGameData } from '../testing/test-game-data.js';

const UNPACK: Readonly<Record<string, (body: Uint8Array) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (body) => Buffer.from(body),
};

describe('cacheable responses', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());

  const statusOf = async (path: string, headers: Record<string, string>): Promise<number> =>
    (await service.send(path, { headers })).status;

  it('derives tags only from the content, and returns 304 for a match', async () => {
    const path = '/api/items?category=key&limit=5';
    const first = await service.send(path);
    const etag = String(first.headers['etag']);
    assert.match(etag, /^"[A-Za-z0-9_-]{22}"$/);
    const same = await service.send('/api/items?limit=5&category=key');
    assert.equal(same.headers['etag'], etag);
    const bare = etag.slice(1, -1);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*', `"${bare}-br"`, `"${bare}-gz"`]) {
      const response = await service.send(path, { headers: { 'if-none-match': tag } });
      assert.deepEqual([response.status, response.text], [304, ''], tag);
      for (const name of ['etag', 'cache-control', 'vary', 'x-data-version']) {
        assert.equal(response.headers[name], first.headers[name], name);
      }
      assert.equal(response.headers['access-control-allow-origin'], '*');
    }
    const other = await service.send(path, { headers: { 'if-none-match': '"other"' } });
    assert.equal(other.status, 200);
    const since = String(first.headers['last-modified']);
    const unchanged = await service.send(path, { headers: { 'if-modified-since': since } });
    assert.equal(unchanged.status, 304);
    const both = { 'if-modified-since': since, 'if-none-match': '"other"' };
    assert.equal((await service.send(path, { headers: both })).status, 200);
    await using again = await TestGameData.start();
    assert.equal((await again.send(path)).headers['etag'], etag);
  });

  it('sends cache lifetimes', async () => {
    const control = async (path: string) => (await service.send(path)).headers['cache-control'];
    const usual = 'public, max-age=60, stale-while-revalidate=600, stale-if-error=86400';
    assert.equal(await control('/api/items'), usual);
    assert.equal(await control('/api/items?version=1'), 'public, max-age=31536000, immutable');
    assert.equal(await control('/api/bulk/v1/maps.json'), 'public, max-age=31536000, immutable');
    assert.equal(await control('/api/items/nobody'), 'public, max-age=10');
    assert.equal(await control('/api/items?limit=x'), 'no-store');
  });

  it('compresses large responses, as the client prefers', async () => {
    const plain = await service.send('/api/quests');
    const cases: [string, string | undefined][] = [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0.5, gzip;q=0.8', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['identity', undefined],
      ['*', 'br'],
      ['deflate', undefined],
    ];
    for (const [accept, coding] of cases) {
      const response = await service.send('/api/quests', {
        headers: { 'accept-encoding': accept },
      });
      assert.equal(response.headers['content-encoding'], coding, accept);
      assert.equal(response.headers['vary'], 'Accept-Encoding');
      const body =
        coding === 'br'
          ? brotliDecompressSync(response.bytes)
          : coding === 'gzip'
            ? gunzipSync(response.bytes)
            : response.bytes;
      assert.ok(body.equals(plain.bytes), accept);
      const suffix = coding === 'br' ? '-br"' : coding === 'gzip' ? '-gz"' : '"';
      assert.ok(String(response.headers['etag']).endsWith(suffix));
    }
    const small = await service.send('/api/items/nobody', {
      headers: { 'accept-encoding': 'br' },
    });
    assert.equal(small.headers['content-encoding'], undefined);
    const none = { 'accept-encoding': 'identity;q=0, *;q=0' };
    assert.equal((await service.send('/api/quests', { headers: none })).status, 406);
    assert.equal(
      (await service.send('/api/quests', { headers: { accept: 'text/html' } })).status,
      406,
    );
    assert.equal(
      (await service.send('/api/quests', { headers: { accept: 'text/html, */*;q=0.1' } })).status,
      200,
    );
  });

  it('accepts tags with suffixes of proxies, and dates only in HTTP formats', async () => {
    const { headers } = await service.get('/api/maps');
    const base = String(headers['etag']).slice(0, -1);
    for (const [tag, status] of [
      [`${base}-gzip"`, 304],
      [`W/${base}-zstd"`, 304],
      [`${base}x"`, 200],
      [`${base}-"`, 200],
    ] as const) {
      assert.equal(await statusOf('/api/maps', { 'if-none-match': tag }), status, tag);
    }
    const published = String((await service.send('/api/maps')).headers['last-modified']);
    const [day, date, month, year, time] = published.replace(',', '').split(' ');
    const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
    const whole = days.find((name) => name.startsWith(String(day)));
    for (const [given, status] of [
      [published, 304],
      [`${whole}, ${date}-${month}-${year?.slice(2)} ${time} GMT`, 304],
      [`${day} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`, 304],
      ['Fri, 31 Dec 2049 23:59:59 GMT', 200],
      [new Date(published).toISOString(), 200],
      ['2049-12-31T23:59:59Z', 200],
      ['2049', 200],
    ] as const) {
      assert.equal(await statusOf('/api/maps', { 'if-modified-since': given }), status, given);
    }
  });

  it('negotiates and revalidates bulk files like other responses', async () => {
    const url = '/api/bulk/v1/items.json';
    const send = (headers: Record<string, string>, path = url) => service.send(path, { headers });
    const { headers } = await send({});
    const published = String(headers['last-modified']);
    const before = new Date(Date.parse(published) - 1000).toUTCString();
    assert.equal((await send({ 'if-modified-since': published })).status, 304);
    assert.equal((await send({ 'if-modified-since': before })).status, 200);
    const other = { 'if-none-match': '"other"', 'if-modified-since': published };
    assert.equal((await send(other)).status, 200, 'If-None-Match decides alone');
    assert.equal((await send({ 'accept-encoding': 'identity;q=0, *;q=0' })).status, 406);
    // Files are available uncompressed and as gzip; other codings are not used.
    const codingFor = async (accepted: string): Promise<unknown> => {
      const { status, headers: told } = await send({ 'accept-encoding': accepted });
      return status === 200 ? told['content-encoding'] : status;
    };
    assert.equal(await codingFor('br'), undefined);
    assert.equal(await codingFor('br, gzip;q=0.5'), 'gzip');
    assert.equal(await codingFor('br, identity;q=0'), 406);
    const asItIs = await send({ 'accept-encoding': 'br' });
    assert.equal(asItIs.headers['etag'], headers['etag']);
    assert.equal(JSON.parse(asItIs.text).length, 420);
    assert.equal((await send({ accept: 'text/html' })).status, 406);
    const lines = url.replace('.json', '.ndjson');
    assert.equal((await send({ accept: 'application/x-ndjson' }, lines)).status, 200);
    assert.equal((await send({ accept: 'application/json' }, lines)).status, 200);
  });

  it('returns the same cached bytes for any order of codings', async () => {
    const orders = [
      ['br', 'identity', 'gzip'],
      ['gzip', 'br', 'identity'],
      ['identity', 'gzip', 'br'],
    ];
    for (const [index, order] of orders.entries()) {
      const path = `/api/items?limit=50&offset=${index + 1}`;
      const bodies = new Set<string>();
      const tags = new Set<string>();
      for (const coding of [...order, ...order]) {
        const response = await service.send(path, { headers: { 'accept-encoding': coding } });
        const { 'content-encoding': own = 'identity', etag } = response.headers;
        assert.equal(own, coding);
        bodies.add(UNPACK[coding]?.(response.bytes).toString() ?? '');
        tags.add(String(etag).replace(/-(br|gz)"$/, '"'));
        assert.equal(await statusOf(path, { 'if-none-match': String(etag) }), 304);
      }
      assert.deepEqual([bodies.size, tags.size], [1, 1]);
      assert.equal((JSON.parse([...bodies][0] ?? '') as Envelope).count, 50);
    }
  });

  it('ignores dates when two versions were published within one second', async () => {
    const path = '/api/items/short-lived';
    const about = async (headers: Record<string, string> = {}) => {
      const { status, headers: answered, text } = await service.send(path, { headers });
      return { status, date: String(answered['last-modified']), etag: answered['etag'], text };
    };
    const publish = async (method: string, record: string, body: object) => {
      await service.done(method, record, body);
      await service.done('POST', 'save');
      return await about();
    };
    const before = await publish('POST', 'items', { id: 'short-lived', name: 'One' });
    await service.clock.advanceMs(999);
    const now = await publish('PATCH', 'items/short-lived', { name: 'Two' });
    assert.equal(now.date, before.date);
    assert.notEqual(now.text, before.text);
    assert.deepEqual(await about({ 'if-modified-since': before.date }), now);
    assert.equal((await about({ 'if-none-match': String(now.etag) })).status, 304);
    assert.equal((await about({ 'if-none-match': String(before.etag) })).status, 200);

    // The next version is published in a different second.
    await service.clock.advanceMs(1);
    const later = await publish('PATCH', 'items/short-lived', { name: 'Later' });
    assert.equal((await about({ 'if-modified-since': later.date })).status, 304);
    assert.equal((await about({ 'if-modified-since': before.date })).status, 200);
    // A version published by a node with a fast clock.
    const ahead = new Date(Date.parse(later.date) + 3_600_000).toUTCString();
    assert.equal((await about({ 'if-modified-since': ahead })).status, 200);
  });
});
