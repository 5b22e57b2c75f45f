// Source: gamedata, sections 2.5 to 2.10, 4, 6.2 to 6.4 and 8.1: requests that a careful stranger tries.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { type HttpAnswer, ServerProcess, StartFailed } from '../../harness/index.js';
import { type Envelope, getJson, refused, type WireRecord } from './game-client.js';

const TOKEN = 'editor-token-for-tests';
const JSON_HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

const STARTED = {
  // Some texts of a few thousand records lie in memory, and most in the file.
  flags: ['--services', 'gamedata', '--gamedata-text-memory-bytes', '300kb'],
  env: { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
} as const;

let server: ServerProcess;
/** Owns the data folder. */
let first: ServerProcess;
before(async () => {
  first = await ServerProcess.start(STARTED);
  server = first;
});
after(async () => {
  await server.close();
  await first.close();
});

async function edit(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<HttpAnswer & { readonly json: WireRecord }> {
  const answer = await server.http.send(`/api/editor/${path}`, {
    method,
    headers: { ...JSON_HEADERS, ...headers },
    ...(body !== undefined && {
      body: body instanceof Uint8Array ? body : JSON.stringify(body),
    }),
  });
  return { ...answer, json: JSON.parse(answer.text) as WireRecord };
}

const statusOf = async (path: string, headers: Record<string, string>): Promise<number> =>
  (await server.http.send(path, { headers })).status;

describe('questions of game data', () => {
  it('C14 names that every object has are no fields', async () => {
    for (const q of ['constructor:1', 'has:__proto__', 'is:constructor', 'toString=x']) {
      const body = await refused(server, `/api/items?q=${q}`, 'invalid_query', 'q');
      assert.equal(body['position'], 0);
    }
    await refused(server, '/api/items?sort=constructor', 'unknown_field', 'sort');
    await refused(server, '/api/items?include=constructor', 'unknown_field', 'include');
  });

  it('C14 five parentheses inside each other are taken, six are not', async () => {
    await getJson(server, `/api/items?q=${'('.repeat(5)}a${')'.repeat(5)}`);
    const deep = `/api/items?q=${'('.repeat(6)}a${')'.repeat(6)}`;
    assert.equal((await refused(server, deep, 'invalid_query', 'q'))['position'], 5);
  });

  it('C16 names an unknown id once', async () => {
    const { body } = await getJson<Envelope>(server, '/api/items?ids=nope,nope');
    assert.deepEqual(body['notFound'], ['nope']);
  });

  it('C17 says in which language a search is answered', async () => {
    for (const path of ['/api/search?q=a&lang=fr', '/api/suggest?q=ab&lang=fr']) {
      assert.equal((await getJson(server, path)).headers['content-language'], 'fr', path);
    }
  });

  it('C18 knows its tag with the suffix of another coder, and only dates that HTTP has', async () => {
    const { headers } = await getJson(server, '/api/maps');
    const base = String(headers['etag']).slice(0, -1);
    for (const [tag, status] of [
      [`${base}-gzip"`, 304],
      [`W/${base}-zstd"`, 304],
      [`${base}x"`, 200],
      [`${base}-"`, 200],
    ] as const) {
      assert.equal(await statusOf('/api/maps', { 'if-none-match': tag }), status, tag);
    }
    const published = String((await server.http.send('/api/maps')).headers['last-modified']);
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
});

describe('replies that are kept', () => {
  it('C18 and C20 are the same bytes in whatever order codings are asked for', async () => {
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
        const answer = await server.http.send(path, { headers: { 'accept-encoding': coding } });
        const { 'content-encoding': own = 'identity', etag } = answer.headers;
        assert.equal(own, coding);
        bodies.add(UNPACK[coding]?.(answer.bytes).toString() ?? '');
        tags.add(String(etag).replace(/-(br|gz)"$/, '"'));
        assert.equal(await statusOf(path, { 'if-none-match': String(etag) }), 304);
      }
      assert.deepEqual([bodies.size, tags.size], [1, 1]);
      assert.equal((JSON.parse([...bodies][0] ?? '') as Envelope).count, 50);
    }
  });
});

const UNPACK: Readonly<Record<string, (body: Uint8Array) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (body) => Buffer.from(body),
};

describe('short names in two languages', () => {
  after(async () => {
    assert.equal((await edit('POST', 'versions/1/restore')).status, 200);
  });

  it('C13 and C17 are sorted and asked for as they are shown, those that are absent last', async () => {
    const item = (id: string, shortName: string | null, fr?: string) => ({
      ...{ id, name: `Name ${id}`, shortName },
      locales: fr === undefined ? {} : { fr: { shortName: fr } },
    });
    const items = [
      item('a', 'Zinc', 'Ail'),
      item('b', 'Bell'),
      item('c', null),
      item('d', 'Axe', 'Érable'),
      item('e', 'Mud', 'zèbre'),
    ];
    const head = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en', 'fr'] };
    const body = { ...head, kinds: { items } };
    assert.equal((await edit('POST', 'import?mode=replace&publish=true', body)).status, 200);
    const cases: readonly (readonly [string, string])[] = [
      ['sort=shortName', 'd b e a c'],
      ['sort=-shortName', 'a e b d c'],
      ['sort=shortName&lang=fr', 'a b d e c'],
      ['sort=-shortName&lang=fr', 'e d b a c'],
      ['sort=-shortName,name&lang=fr&limit=2&offset=1', 'd b'],
      ['q=shortName:zinc', 'a'],
      ['q=shortName:zinc&lang=fr', ''],
      ['q=shortName=erable&lang=fr', 'd'],
      ['q=shortName:bell&lang=fr', 'b'],
    ];
    for (const [query, ids] of cases) {
      const { body: found } = await getJson<Envelope>(server, `/api/items?${query}`);
      assert.equal((found.items ?? []).map(({ id }) => id).join(' '), ids, query);
    }
  });
});

describe('thousands of records in two languages', () => {
  const COUNT = 4_000;
  const isNamed = (n: number): boolean => n % 4 !== 0;

  before(async () => {
    const items = Array.from({ length: COUNT }, (_, n) => ({
      id: `i${n}`,
      name: `Lamp ${n}`,
      description: `Burns for ${n} hours`,
      // A quarter has no name of its own, and falls back.
      locales: {
        fr: { ...(isNamed(n) && { name: `Œil ${n}` }), description: `Brûle ${n} heures` },
      },
    }));
    const head = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en', 'fr'] };
    const body = { ...head, kinds: { items } };
    const { status } = await edit('POST', 'import?mode=replace&publish=true', body);
    assert.equal(status, 200);
  });
  after(async () => {
    assert.equal((await edit('POST', 'versions/1/restore')).status, 200);
  });

  const namedCount = Array.from({ length: COUNT }, (_, n) => n).filter(isNamed).length;

  it('C11, C14 and C17 searches find them in either, from the first question on', async () => {
    const totals: readonly (readonly [string, number])[] = [
      ['q=lamp', COUNT],
      ['q=lamp&lang=fr', COUNT - namedCount],
      ['q=%C5%93il&lang=fr', namedCount],
      ['q=oeil&lang=fr', 0],
      ['q=brule&lang=fr', COUNT],
      ['q=heure~&lang=fr', COUNT],
      ['q="brule 12 heures"&lang=fr', 1],
      ['q="le 1234 he"&lang=fr', 1],
      ['q="burns for 12 hours"&lang=fr', 0],
      ['q="burns for 12 hours"', 1],
      ['search=lamp 399&lang=fr', 11],
      ['search=%C5%93IL 399&lang=fr', 9],
      ['search=%C5%93il 399', 0],
    ];
    for (const [query, total] of totals) {
      const path = `/api/items?limit=0&${query.replaceAll(' ', '%20')}`;
      assert.equal((await getJson<Envelope>(server, path)).body.total, total, query);
    }
  });

  it('C14 and C17 names and texts of fields, and their order, are those of the language', async () => {
    const totals: readonly (readonly [string, number])[] = [
      ['q=name:lamp', COUNT],
      ['q=name:lamp&lang=fr', COUNT - namedCount],
      ['q=name:%C5%93il&lang=fr', namedCount],
      ['q=name="%C5%92IL 1234"&lang=fr', 1],
      ['q=-name:%C5%93il&lang=fr', COUNT - namedCount],
      ['q=name!="%C5%93il 5"&lang=fr', COUNT - 1],
      ['q=description:burns&lang=fr', 0],
      ['q=description:"brule 12 heures"&lang=fr', 1],
      ['q=description:"burns for 12 hours"', 1],
    ];
    for (const [query, total] of totals) {
      const path = `/api/items?limit=0&${query.replaceAll(' ', '%20')}`;
      assert.equal((await getJson<Envelope>(server, path)).body.total, total, query);
    }
    const { body } = await getJson<Envelope>(server, '/api/items?sort=-name&lang=fr&limit=5000');
    const shown = (body.items ?? []).map(({ name }) => String(name));
    // Translated ones begin with a letter after all of ASCII; by code point, as the specification says.
    const byHand = Array.from({ length: COUNT }, (_, n) => (isNamed(n) ? `œil ${n}` : `lamp ${n}`))
      .sort((a, b) => (a < b ? 1 : -1))
      .map((name) => name.replace('œil', 'Œil').replace('lamp', 'Lamp'));
    assert.deepEqual(shown, byHand);
    await refused(server, '/api/items?q=name>a&lang=fr', 'invalid_query', 'q');
    await refused(server, '/api/items?q=nothing:a&lang=fr', 'invalid_query', 'q');
  });

  it('C6 and C8 serves each as it was sent, in pages and alone, also after a restart', async () => {
    const check = async (): Promise<void> => {
      const { body } = await getJson<Envelope>(server, `/api/items?limit=${COUNT}&lang=fr`);
      const { items = [] } = body;
      assert.equal(items.length, COUNT);
      for (const [n, record] of items.entries()) {
        const { id, name, description } = record;
        assert.equal(id, `i${n}`);
        assert.equal(name, isNamed(n) ? `Œil ${n}` : `Lamp ${n}`);
        assert.equal(description, `Brûle ${n} heures`);
      }
      // Far from each other, so that nothing that was read before helps.
      for (let step = 0, n = 0; step < 60; step += 1, n = (n + 1571) % COUNT) {
        const { body: record } = await getJson<WireRecord>(server, `/api/items/i${n}`);
        assert.equal(record['name'], `Lamp ${n}`);
        assert.equal(record['description'], `Burns for ${n} hours`);
      }
    };
    await check();
    const { dataDir } = server;
    assert.equal(await server.stop(), 0);
    assert.deepEqual(await readdir(join(dataDir, 'gamedata')), [], 'nothing is left behind');
    server = await ServerProcess.start({ ...STARTED, dataDir });
    await check();
  });

  it('C15 suggests and finds all that fit, and sees an edit of one', async () => {
    const suggest = async (q: string): Promise<readonly string[]> => {
      const path = `/api/suggest?lang=fr&limit=3&q=${encodeURIComponent(q)}`;
      const { body } = await getJson<{ suggestions: WireRecord[] }>(server, path);
      return body.suggestions.map(({ id }) => id);
    };
    assert.deepEqual(await suggest('Œil 3999'), ['i3999', 'i1999', 'i2999']);
    assert.equal((await edit('PATCH', 'items/i7', { name: 'Beacon' })).status, 200);
    assert.equal((await edit('POST', 'save')).status, 200);
    for (const [q, ids] of [
      ['beacon', ['i7']],
      ['lamp 7', ['i70']],
      ['lamp 8', ['i8']],
    ] as const) {
      const path = `/api/search?kinds=items&limit=1&q=${encodeURIComponent(`"${q}"`)}`;
      const { body } = await getJson<{ results: WireRecord[] }>(server, path);
      assert.deepEqual(
        body.results.map(({ id }) => id),
        ids,
        q,
      );
    }
  });
});

describe('an editor', () => {
  beforeEach(async () => {
    assert.equal((await edit('POST', 'versions/1/restore')).status, 200);
  });

  const idsOf = async (): Promise<readonly string[]> => {
    const { json } = await edit('GET', 'items?limit=5000');
    return (json['data'] as WireRecord[]).map(({ id }) => id);
  };

  it('C32 undoes deletions to where the records stood, also over a restart', async () => {
    const before = await idsOf();
    const gone = [before[0], before[7], before[8], before.at(-1)];
    for (const id of gone) {
      assert.equal((await edit('DELETE', `items/${id}?force=true`)).status, 200);
    }
    await edit('POST', 'items', { id: 'later', name: 'Later' });
    await edit('DELETE', 'items/later');
    const { length } = [...gone, 'created', 'deleted'];
    for (let count = 0; count < length; count += 1) {
      assert.equal((await edit('POST', 'undo')).status, 200);
    }
    assert.deepEqual(await idsOf(), before);
    const { dataDir } = server;
    await server.kill();
    server = await ServerProcess.start({ ...STARTED, dataDir });
    assert.deepEqual(await idsOf(), before);
  });

  it('C32 leaves what was discarded out of undo and of later versions', async () => {
    await edit('POST', 'items', { id: 'thrown-away', name: 'Thrown away' });
    assert.equal((await edit('POST', 'discard')).json['discarded'], 1);
    assert.deepEqual((await edit('POST', 'undo')).json, {
      error: 'nothing to undo',
      code: 'conflict',
    });
    await edit('POST', 'items', { id: 'kept', name: 'Kept' });
    await edit('POST', 'save');
    const { json } = await edit('GET', 'history?id=thrown-away');
    const [entry] = json['entries'] as WireRecord[];
    assert.deepEqual([entry?.['discarded'], entry?.['version']], [true, undefined]);
  });

  it('C30 takes gzip, and says which codings it does not take', async () => {
    const packed = gzipSync(JSON.stringify({ id: 'packed', name: 'Packed' }));
    const gzip = { 'content-encoding': 'gzip' };
    assert.equal((await edit('POST', 'items', packed, gzip)).status, 200);
    const other = await edit('POST', 'items', packed, { 'content-encoding': 'br' });
    assert.deepEqual([other.status, other.json['code']], [415, 'unsupported_media_type']);
    const falsely = await edit('POST', 'items', { id: 'plain', name: 'Plain' }, gzip);
    assert.equal(falsely.status, 400);
    const bomb = gzipSync(JSON.stringify({ id: 'bomb', name: 'x', extra: 'x'.repeat(400_000) }));
    assert.equal((await edit('POST', 'items', bomb, gzip)).status, 413);
  });

  it('C41 refuses imports that could only replace everything by nothing', async () => {
    const head = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en'] };
    for (const [path, body] of [
      ['/kind', { ...head, kinds: {}, kind: { items: [] } }],
      ['/languages', { ...head, languages: ['en', 'all'], kinds: {} }],
      ['/defaultLanguage', { ...head, defaultLanguage: 'all', kinds: {} }],
    ] as const) {
      const { status, json } = await edit('POST', 'import?mode=replace&publish=true', body);
      const [fault] = json['details'] as WireRecord[];
      assert.deepEqual([status, json['code'], fault?.['path']], [400, 'validation_failed', path]);
    }
    assert.equal((await getJson<Envelope>(server, '/api/items?limit=0')).body.total, 420);
  });
});

describe('a start with a token that is too short', () => {
  it('C44 says how long it must be, and does not show it', async () => {
    const start = ServerProcess.start({
      flags: ['--services', 'gamedata'],
      env: { PLINTH_GAMEDATA_ADMIN_TOKEN: 'too-short-one' },
    });
    await assert.rejects(start, (error: unknown) => {
      assert.ok(error instanceof StartFailed);
      const text = `${error.message} ${JSON.stringify(error)}`;
      assert.match(text, /PLINTH_GAMEDATA_ADMIN_TOKEN: expected .*at least 16 characters/);
      assert.doesNotMatch(text, /too-short-one/);
      return true;
    });
  });
});
