// Source: gamedata, sections 1.2, 2.1 to 2.6 and 2.9.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';
import { type Envelope, getJson, refused, type WireRecord } from './game-client.js';

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({ flags: ['--services', 'gamedata'] });
});
after(() => server.close());

const get = <T = Envelope>(path: string) => getJson<T>(server, path);

describe('the nine lists', () => {
  it('C1 answer JSON without credentials, and ignore a wrong one', async () => {
    const paths = ['items', 'ammunition', 'traders', 'quests', 'maps', 'hideout', 'item-presets'];
    for (const path of [...paths, 'levels', 'storyline']) {
      const headers = { authorization: 'Bearer nobody' };
      const answer = await server.http.send(`/api/${path}`, { headers });
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    }
  });

  it('C2 are named by the index at / and /api', async () => {
    for (const path of ['/', '/api', '/api/']) {
      const { body } = await get<WireRecord>(path);
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

  it('C3 five of them come in an envelope of 100 by default', async () => {
    const keys = {
      items: 'items',
      ammunition: 'ammunition',
      quests: 'quests',
      'item-presets': 'presets',
      storyline: 'storylines',
    };
    for (const [path, key] of Object.entries(keys)) {
      const { body, headers } = await get(`/api/${path}`);
      const records = body[key] as unknown[];
      assert.deepEqual(Object.keys(body).slice(0, 3), ['total', 'count', 'offset']);
      assert.equal(body.count, records.length);
      assert.equal(body.count, Math.min(100, body.total));
      assert.equal(body.limit, 100);
      assert.equal(headers['x-total-count'], String(body.total));
      assert.equal(headers['x-data-version'], '1');
    }
  });

  it('C4 traders are keyed by slug, maps and levels are arrays, hideout has modules', async () => {
    const traders = (await get<Record<string, WireRecord>>('/api/traders')).body;
    assert.equal(Object.keys(traders).length, 8);
    for (const [slug, trader] of Object.entries(traders)) assert.equal(trader['slug'], slug);
    assert.ok(Array.isArray((await get('/api/maps')).body));
    assert.ok(Array.isArray((await get('/api/levels')).body));
    const hideout = (await get<{ modules: unknown[] }>('/api/hideout')).body;
    assert.deepEqual(Object.keys(hideout), ['modules']);
    assert.equal(hideout.modules.length, 20);
  });

  it('C5 take limits from 0 to 5000 and refuse everything else', async () => {
    assert.equal((await get('/api/items?limit=0')).body.count, 0);
    assert.equal((await get('/api/items?limit=5000')).body.count, 420);
    const bad = ['-1', '+1', '1.0', '1e2', '5001', '', 'abc', '%201', '0x10', '99999999999'];
    for (const value of bad) {
      await refused(server, `/api/items?limit=${value}`, 'invalid_parameter', 'limit');
      if (value !== '5001') {
        await refused(server, `/api/items?offset=${value}`, 'invalid_parameter', 'offset');
      }
    }
    await refused(server, '/api/items?limit=1&limit=2', 'invalid_parameter', 'limit');
    const beyond = await get('/api/items?offset=2147483647');
    assert.deepEqual([beyond.body.total, beyond.body.count], [420, 0]);
  });

  it('C6 page without gap or repeat at every limit', async () => {
    const all = (await get('/api/items?limit=5000')).body.items ?? [];
    const ids = all.map(({ id }) => id);
    assert.equal(new Set(ids).size, 420);
    for (const limit of [1, 7, 100, 419, 420]) {
      const paged: unknown[] = [];
      // Following 420 links one by one would only be slow.
      let next: string | null = `/api/items?limit=${limit}&offset=${limit === 1 ? 410 : 0}`;
      while (next !== null) {
        const { body }: { body: Envelope } = await get(next);
        paged.push(...(body.items ?? []).map(({ id }) => id));
        next = body.next;
      }
      assert.deepEqual(paged, limit === 1 ? ids.slice(410) : ids);
    }
  });

  it('C7 link their pages, and take envelope=page', async () => {
    const { body, headers } = await get('/api/items?limit=50&offset=100&category=mod');
    assert.equal(body.total, 110);
    assert.equal(body.next, null);
    assert.equal(body.previous, '/api/items?category=mod&limit=50&offset=50');
    assert.equal(
      headers['link'],
      '</api/items?category=mod&limit=50&offset=0>; rel="first", </api/items?category=mod&limit=50&offset=50>; rel="prev", </api/items?category=mod&limit=50&offset=100>; rel="last"',
    );
    const beyond = (await get('/api/items?limit=50&offset=90000')).body;
    assert.equal(beyond.previous, '/api/items?limit=50&offset=400', 'leads back to records');
    assert.equal((await get('/api/maps')).headers['link'], undefined);
    const page = (await get('/api/traders?envelope=page&limit=3')).body;
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

  it('a query of bytes that are no UTF-8 came back in 70 kB of headers', async () => {
    const bytes = '%ff'.repeat(2600);
    await refused(server, `/api/items?limit=1&offset=3&tag=${bytes}`, 'invalid_parameter', 'tag');
    await refused(server, `/api/items?${bytes.slice(0, 6)}=1`, 'invalid_parameter', '??');
    const long = Array.from({ length: 250 }, (_, n) => `${n}`.padStart(30, 'x')).join(',');
    for (const [length, hasLink] of [
      [7500, false],
      [1500, false],
      [900, true],
    ] as const) {
      const ids = long.slice(0, length);
      const { status, headers, text } = await server.http.send(
        `/api/items?limit=1&offset=3&ids=${ids}`,
      );
      assert.equal(status, 200, text);
      assert.match(String(JSON.parse(text).previous), /offset=0$/);
      assert.equal(headers['link'] !== undefined, hasLink, `${length} characters`);
    }
    await refused(server, `/api/items?tag=${'x'.repeat(257)}`, 'invalid_parameter', 'tag');
    const names = Array.from({ length: 20 }, (_, n) => `${'%E2%82%AC'.repeat(40)}${n}=1`).join('&');
    const ignored = await server.http.send(`/api/items?limit=1&${names}`);
    assert.ok(String(ignored.headers['x-ignored-params']).length <= 2048);
  });

  it('C8 and C9 single records are found by id, some by name, or not at all', async () => {
    const trader = (await get<WireRecord>('/api/traders/odile-varn')).body;
    for (const name of [trader.id, 'ODILE-VARN', 'odile%20varn', 'Odile%20Varn']) {
      assert.deepEqual((await get(`/api/traders/${name}`)).body, trader);
    }
    assert.equal((await get<WireRecord>('/api/maps/Kestrel%20Dam')).body.id, 'kestrel-dam');
    const level = (await get<WireRecord>('/api/levels/7')).body;
    assert.equal(level['level'], 7);
    const { calibers } = (await get<{ calibers: string[] }>('/api/ammunition/calibers/list')).body;
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
      const answer = await server.http.send(`/api/${path}/nothing-like-it`);
      assert.equal(answer.status, 404);
      assert.deepEqual(JSON.parse(answer.text), { error, code: 'not_found' });
      assert.equal(answer.headers['cache-control'], 'public, max-age=10');
    }
  });

  it('C10 know their methods', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await server.http.send('/api/items', { method });
      assert.equal(answer.status, 405, method);
      assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
      assert.equal(answer.headers['vary'], 'Accept-Encoding');
      assert.equal(JSON.parse(answer.text).code, 'method_not_allowed');
    }
    const whole = await server.http.send('/api/items?limit=3');
    const head = await server.http.send('/api/items?limit=3', { method: 'HEAD' });
    assert.equal(head.text, '');
    assert.equal(head.headers['content-length'], String(whole.bytes.length));
    assert.equal(head.headers['etag'], whole.headers['etag']);
    const slashed = await server.http.send('/api/maps/');
    assert.deepEqual(
      [slashed.status, slashed.text],
      [200, (await server.http.send('/api/maps')).text],
    );
    for (const path of ['/API/items', '/Api', '/api/Items']) {
      const answer = await server.http.send(path);
      assert.equal(answer.status, 404, path);
      assert.deepEqual(JSON.parse(answer.text), { error: 'Not found', code: 'not_found' });
    }
    for (const path of ['/api/items/%zz', '/api/items/%00', '/api/%00']) {
      const answer = await server.http.send(path);
      assert.equal(answer.status, 400, path);
      assert.equal(JSON.parse(answer.text).code, 'invalid_parameter');
    }
    assert.equal((await server.http.send(`/api/items?x=${'a'.repeat(9000)}`)).status, 414);
  });
});

describe('search, filters and sorting', () => {
  it('C11 search finds parts of names, whatever their case and marks', async () => {
    const all = (await get('/api/items?limit=5000')).body.items ?? [];
    for (const needle of ['GLASS', 'gläss', ' glass ', 'a']) {
      const plain = needle.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
      const expected = all
        .filter((item) =>
          [item['name'], item['shortName']].some((text) =>
            String(text).toLowerCase().includes(plain),
          ),
        )
        .map(({ id }) => id);
      const { body } = await get(`/api/items?limit=5000&search=${encodeURIComponent(needle)}`);
      assert.deepEqual(
        (body.items ?? []).map(({ id }) => id),
        expected,
        needle,
      );
    }
    assert.equal((await get('/api/items?search=%20')).body.total, 420);
    await refused(server, `/api/items?search=${'a'.repeat(101)}`, 'invalid_parameter', 'search');
  });

  it('C12 caliber is matched normalised, whole before beginning; trader and baseId filter', async () => {
    const total = async (query: string) => (await get(`/api/ammunition?${query}`)).body.total;
    assert.equal(await total('caliber=Caliber5x26Wren'), 7);
    assert.equal(await total('caliber=5X26-wren'), 7);
    assert.equal(await total('caliber=5x26'), 7);
    assert.equal(await total('caliber=1'), 6 * 4);
    assert.equal(await total('caliber=5x26,6x34'), 14);
    assert.equal(await total('caliber=nonsense'), 0);
    const quests = (await get('/api/quests?trader=odile%20varn&limit=5000')).body;
    assert.equal(quests.total, 16);
    for (const quest of quests.quests ?? []) assert.equal(quest['giver'], 'Odile Varn');
    const presets = (await get('/api/item-presets?limit=1')).body.presets ?? [];
    const baseId = String(presets[0]?.['baseId']);
    const same = (await get(`/api/item-presets?baseId=${baseId}`)).body.presets ?? [];
    assert.ok(same.length > 0 && same.every((preset) => preset['baseId'] === baseId));
  });

  it('C13 numbers bound, enumerations are checked, ammunition comes by damage', async () => {
    const { body } = await get('/api/ammunition');
    const damages = (body.ammunition ?? []).map((round) =>
      Reflect.get(Object(round['ballistics']), 'damage'),
    );
    assert.deepEqual(
      damages,
      [...damages].sort((a, b) => b - a),
    );
    const priced = (await get('/api/items?minPrice=1000&maxPrice=2000&sort=-price&limit=5000'))
      .body;
    const prices = (priced.items ?? []).map((item) =>
      Reflect.get(Object(item['handbook']), 'price'),
    );
    assert.ok(prices.length > 0 && prices.every((price) => price >= 1000 && price <= 2000));
    assert.deepEqual(
      prices,
      [...prices].sort((a, b) => b - a),
    );
    await refused(server, '/api/items?rarity=shiny', 'invalid_parameter', 'rarity');
    await refused(server, '/api/items?minPrice=9&maxPrice=8', 'invalid_parameter', 'maxPrice');
    await refused(server, '/api/ammunition?tracer=yes', 'invalid_parameter', 'tracer');
    await refused(server, '/api/items?sort=beauty', 'unknown_field', 'sort');
    await refused(server, '/api/items?sort=relevance', 'invalid_parameter', 'sort');
  });
});

describe('what is asked of a list', () => {
  it('C16 fields, ids, include and strict', async () => {
    const { body } = await get('/api/items?limit=2&fields=name,relations.soldBy.price');
    for (const item of body.items ?? []) {
      assert.deepEqual(Object.keys(item).sort(), ['id', 'name', 'relations']);
    }
    await refused(server, '/api/items?fields=name,nothing', 'unknown_field', 'fields');
    const [first, second] = (await get('/api/items?limit=2')).body.items ?? [];
    const chosen = (await get(`/api/items?ids=${second?.id},nobody,${first?.id}`)).body;
    assert.deepEqual(
      (chosen.items ?? []).map(({ id }) => id),
      [first?.id, second?.id],
    );
    assert.deepEqual(chosen['notFound'], ['nobody']);
    for (const word of ['include', 'expand']) {
      const quests = (await get(`/api/quests?limit=1&${word}=trader,items`)).body;
      const [quest] = quests.quests ?? [];
      const included = quests['included'] as Record<string, Record<string, WireRecord>>;
      assert.equal(included['traders']?.[String(quest?.['giverId'])]?.['name'], quest?.['giver']);
    }
    await refused(server, '/api/quests?include=nothing', 'unknown_field', 'include');
    await refused(server, '/api/traders?include=quests', 'invalid_parameter', 'include');
    const ignored = await get('/api/items?limit=1&colour=red&size=2');
    assert.equal(ignored.headers['x-ignored-params'], 'colour, size');
    await refused(server, '/api/items?colour=red&strict=true', 'unknown_parameter', 'colour');
  });
});
