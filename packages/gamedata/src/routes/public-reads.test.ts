// Source: gamedata, sections 1.2 and 2.1 to 2.7.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Envelope, TestGameData, type WireRecord } from '../testing/test-game-data.js';

describe('public reads', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());

  it('lists return JSON without credentials, and ignore invalid ones', async () => {
    const paths = ['items', 'ammunition', 'traders', 'quests', 'maps', 'hideout', 'item-presets'];
    for (const path of [...paths, 'levels', 'storyline']) {
      const headers = { authorization: 'Bearer nobody' };
      const response = await service.send(`/api/${path}`, { headers });
      assert.equal(response.status, 200, path);
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    }
  });

  it('the index at / and /api contains the nine lists', async () => {
    for (const path of ['/', '/api', '/api/']) {
      const { body } = await service.get<WireRecord>(path);
      assert.equal(body['name'], 'plinth game data');
      assert.equal(body['version'], '1.0.0');
      assert.equal(body['dataVersion'], 1);
      assert.deepEqual(body['endpoints'], {
        items: '/api/items',
        ammunition: '/api/ammunition',
        traders: '/api/traders',
        quests: '/api/quests',
        maps: '/api/maps',
        hideout: '/api/hideout',
        itemPresets: '/api/item-presets',
        levels: '/api/levels',
        storyline: '/api/storyline',
      });
    }
  });

  it('five lists come in an envelope of 100 records by default', async () => {
    const keys = {
      items: 'items',
      ammunition: 'ammunition',
      quests: 'quests',
      'item-presets': 'presets',
      storyline: 'storylines',
    };
    for (const [path, key] of Object.entries(keys)) {
      const { body, headers } = await service.get(`/api/${path}`);
      const records = body[key] as unknown[];
      assert.deepEqual(Object.keys(body).slice(0, 3), ['total', 'count', 'offset']);
      assert.equal(body.count, records.length);
      assert.equal(body.count, Math.min(100, body.total));
      assert.equal(body.limit, 100);
      assert.equal(headers['x-total-count'], String(body.total));
      assert.equal(headers['x-data-version'], '1');
    }
  });

  it('traders are keyed by slug, maps and levels are arrays, hideout has modules', async () => {
    const traders = (await service.get<Record<string, WireRecord>>('/api/traders')).body;
    assert.equal(Object.keys(traders).length, 8);
    for (const [slug, trader] of Object.entries(traders)) assert.equal(trader['slug'], slug);
    assert.ok(Array.isArray((await service.get('/api/maps')).body));
    assert.ok(Array.isArray((await service.get('/api/levels')).body));
    const hideout = (await service.get<{ modules: unknown[] }>('/api/hideout')).body;
    assert.deepEqual(Object.keys(hideout), ['modules']);
    assert.equal(hideout.modules.length, 20);
  });

  it('lists accept limits from 0 to 5000 and reject everything else', async () => {
    assert.equal((await service.get('/api/items?limit=0')).body.count, 0);
    assert.equal((await service.get('/api/items?limit=5000')).body.count, 420);
    const bad = ['-1', '+1', '1.0', '1e2', '5001', '', 'abc', '%201', '0x10', '99999999999'];
    for (const value of bad) {
      await service.refused(`/api/items?limit=${value}`, 'invalid_parameter', 'limit');
      if (value !== '5001') {
        await service.refused(`/api/items?offset=${value}`, 'invalid_parameter', 'offset');
      }
    }
    await service.refused('/api/items?limit=1&limit=2', 'invalid_parameter', 'limit');
    const beyond = await service.get('/api/items?offset=2147483647');
    assert.deepEqual([beyond.body.total, beyond.body.count], [420, 0]);
  });

  it('lists are paged without gaps or repeats at every limit', async () => {
    const all = (await service.get('/api/items?limit=5000')).body.items ?? [];
    const ids = all.map(({ id }) => id);
    assert.equal(new Set(ids).size, 420);
    for (const limit of [1, 7, 100, 419, 420]) {
      const paged: unknown[] = [];
      // Following 420 links one by one would only be slow.
      let next: string | null = `/api/items?limit=${limit}&offset=${limit === 1 ? 410 : 0}`;
      while (next !== null) {
        const { body }: { body: Envelope } = await service.get(next);
        paged.push(...(body.items ?? []).map(({ id }) => id));
        next = body.next;
      }
      assert.deepEqual(paged, limit === 1 ? ids.slice(410) : ids);
    }
  });

  it('lists link their pages, and accept envelope=page', async () => {
    const { body, headers } = await service.get('/api/items?limit=50&offset=100&category=mod');
    assert.equal(body.total, 110);
    assert.equal(body.next, null);
    assert.equal(body.previous, '/api/items?category=mod&limit=50&offset=50');
    assert.equal(
      headers['link'],
      '</api/items?category=mod&limit=50&offset=0>; rel="first", </api/items?category=mod&limit=50&offset=50>; rel="prev", </api/items?category=mod&limit=50&offset=100>; rel="last"',
    );
    const beyond = (await service.get('/api/items?limit=50&offset=90000')).body;
    assert.equal(beyond.previous, '/api/items?limit=50&offset=400', 'leads back to records');
    assert.equal((await service.get('/api/maps')).headers['link'], undefined);
    const page = (await service.get('/api/traders?envelope=page&limit=3')).body;
    assert.deepEqual(Object.keys(page), [
      'total',
      'count',
      'offset',
      'limit',
      'next',
      'previous',
      'version',
      'data',
    ]);
    assert.equal((page['data'] as unknown[]).length, 3);
  });

  it('rejects a query that is not UTF-8, without 70 kB of headers', async () => {
    const bytes = '%ff'.repeat(2600);
    await service.refused(`/api/items?limit=1&offset=3&tag=${bytes}`, 'invalid_parameter', 'tag');
    await service.refused(`/api/items?${bytes.slice(0, 6)}=1`, 'invalid_parameter', '??');
    const long = Array.from({ length: 250 }, (_, n) => `${n}`.padStart(30, 'x')).join(',');
    for (const [length, hasLink] of [
      [7500, false],
      [1500, false],
      [900, true],
    ] as const) {
      const ids = long.slice(0, length);
      const { status, headers, text } = await service.send(
        `/api/items?limit=1&offset=3&ids=${ids}`,
      );
      assert.equal(status, 200, text);
      assert.match(String(JSON.parse(text).previous), /offset=0$/);
      assert.equal(headers['link'] !== undefined, hasLink, `${length} characters`);
    }
    await service.refused(`/api/items?tag=${'x'.repeat(257)}`, 'invalid_parameter', 'tag');
    const names = Array.from({ length: 20 }, (_, n) => `${'%E2%82%AC'.repeat(40)}${n}=1`).join('&');
    const ignored = await service.send(`/api/items?limit=1&${names}`);
    assert.ok(String(ignored.headers['x-ignored-params']).length <= 2048);
  });

  it('single records are found by id, some by name, or not at all', async () => {
    const trader = (await service.get<WireRecord>('/api/traders/odile-varn')).body;
    for (const name of [trader.id, 'ODILE-VARN', 'odile%20varn', 'Odile%20Varn']) {
      assert.deepEqual((await service.get(`/api/traders/${name}`)).body, trader);
    }
    assert.equal((await service.get<WireRecord>('/api/maps/Kestrel%20Dam')).body.id, 'kestrel-dam');
    const level = (await service.get<WireRecord>('/api/levels/7')).body;
    assert.equal(level['level'], 7);
    const { calibers } = (
      await service.get<{ calibers: string[] }>('/api/ammunition/calibers/list')
    ).body;
    assert.deepEqual(calibers, [...calibers].sort());
    assert.equal(calibers.length, 10);
    const texts = {
      items: 'Item not found',
      ammunition: 'Ammunition not found',
      traders: 'Trader not found',
      quests: 'Quest not found',
      maps: 'Map not found',
      hideout: 'Module not found',
      'item-presets': 'Preset not found',
      levels: 'Level not found',
      storyline: 'Element not found',
    };
    for (const [path, error] of Object.entries(texts)) {
      const response = await service.send(`/api/${path}/nothing-like-it`);
      assert.equal(response.status, 404);
      assert.deepEqual(JSON.parse(response.text), { error, code: 'not_found' });
      assert.equal(response.headers['cache-control'], 'public, max-age=10');
    }
  });

  it('paths reject other methods, and are case-sensitive', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await service.send('/api/items', { method });
      assert.equal(response.status, 405, method);
      assert.equal(response.headers['allow'], 'GET, HEAD, OPTIONS');
      assert.equal(response.headers['vary'], 'Accept-Encoding');
      assert.equal(JSON.parse(response.text).code, 'method_not_allowed');
    }
    const slashed = await service.send('/api/maps/');
    assert.deepEqual([slashed.status, slashed.text], [200, (await service.send('/api/maps')).text]);
    for (const path of ['/API/items', '/Api', '/api/Items']) {
      const response = await service.send(path);
      assert.equal(response.status, 404, path);
      assert.deepEqual(JSON.parse(response.text), { error: 'Not found', code: 'not_found' });
    }
    for (const path of ['/api/items/%zz', '/api/items/%00', '/api/%00']) {
      const response = await service.send(path);
      assert.equal(response.status, 400, path);
      assert.equal(JSON.parse(response.text).code, 'invalid_parameter');
    }
    assert.equal((await service.send(`/api/items?x=${'a'.repeat(9000)}`)).status, 414);
  });

  it('lists translate what has a translation, fall back, and refuse an unknown language', async () => {
    const plain = await service.get('/api/items?limit=40');
    assert.equal(plain.headers['content-language'], 'en');
    const french = await service.get('/api/items?limit=40&lang=fr');
    assert.equal(french.headers['content-language'], 'fr');
    const all = (await service.get('/api/items?limit=40&lang=all')).body.items ?? [];
    for (const [index, item] of all.entries()) {
      const locales = item['locales'] as { fr: Record<string, string> };
      const translated = french.body.items?.[index];
      assert.equal(translated?.['name'], locales.fr['name']);
      assert.equal(translated?.['description'], locales.fr['description'] ?? item['description']);
      assert.equal(item['name'], plain.body.items?.[index]?.['name']);
      assert.equal(translated?.['locales'], undefined);
    }
    await service.refused('/api/items?lang=xx', 'unknown_language', 'lang');
    const name = String(french.body.items?.[0]?.['name']);
    const found = await service.get(`/api/items?lang=fr&search=${encodeURIComponent(name)}`);
    assert.equal(found.body.items?.[0]?.['name'], name);
    const ignored = await service.send('/api/items?limit=1', {
      headers: { 'accept-language': 'fr' },
    });
    assert.equal(ignored.headers['content-language'], 'en');
  });
});
