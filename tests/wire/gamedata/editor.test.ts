// Source: gamedata, sections 4, 6 and 8.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type HttpAnswer, ServerProcess } from '../../harness/index.js';
import type { WireRecord } from './game-client.js';

const TOKEN = 'editor-token-for-tests';
const JSON_HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({
    flags: ['--services', 'gamedata', '--disable-authz', 'metrics'],
    env: { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
  });
});
after(() => server.close());

interface Edited extends WireRecord {
  readonly success: boolean;
  readonly data: WireRecord;
}

async function edit(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<HttpAnswer & { readonly json: Edited }> {
  const answer = await server.http.send(`/api/editor/${path}`, {
    method,
    headers: { ...JSON_HEADERS, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { ...answer, json: JSON.parse(answer.text) as Edited };
}

async function read(path: string): Promise<{ readonly status: number; readonly json: WireRecord }> {
  const { status, text } = await server.http.send(path);
  return { status, json: JSON.parse(text) as WireRecord };
}

const restoreFirst = async () =>
  assert.equal((await edit('POST', 'versions/1/restore')).status, 200);

describe('the editor', () => {
  beforeEach(restoreFirst);

  it('C30 creates, replaces and deletes in a draft that readers do not see before it is saved', async () => {
    const body = { id: 'thing-1', name: 'A made thing', category: 'barter' };
    const made = await edit('POST', 'items', body);
    assert.equal(made.status, 200);
    assert.equal(made.json.success, true);
    assert.equal(made.json.data['name'], 'A made thing');
    assert.equal(made.headers['location'], '/api/editor/items/thing-1');
    assert.match(String(made.headers['etag']), /^"r\d+"$/);
    assert.equal((await read('/api/items/thing-1')).status, 404);
    const saved = await edit('POST', 'save/items');
    assert.deepEqual(
      [saved.json.success, saved.json['message'], saved.json['changed']],
      [true, 'Data saved to file', 1],
    );
    assert.equal((await read('/api/items/thing-1')).json['name'], 'A made thing');
    const whole = (await edit('GET', 'items/thing-1')).json as WireRecord;
    const put = await edit('PUT', 'items/thing-1', { ...whole, name: 'Another name' });
    assert.deepEqual([put.status, put.json.data['name']], [200, 'Another name']);
    assert.equal((await edit('DELETE', 'items/thing-1')).json.success, true);
    assert.equal((await edit('GET', 'items/thing-1')).status, 404);
    assert.equal((await read('/api/items/thing-1')).json['name'], 'A made thing');
    await edit('POST', 'save');
    assert.equal((await read('/api/items/thing-1')).status, 404);
  });

  it('C30 takes the keys of its lists as names of their records', async () => {
    for (const type of ['traders', 'maps']) {
      const listed = (await edit('GET', type)).json as unknown as Record<string, WireRecord>;
      const [key, record] = Object.entries(listed)[0] ?? [];
      assert.ok(key !== undefined && record !== undefined);
      assert.equal(key, record['slug']);
      const one = await edit('GET', `${type}/${key}`);
      assert.deepEqual([one.status, (one.json as WireRecord).id], [200, record.id]);
      const tag = String(one.headers['etag']);
      const renamed = { ...record, description: 'Named by its key.' };
      const put = await edit('PUT', `${type}/${key}`, renamed, { 'if-match': tag });
      assert.deepEqual([put.status, put.json.data.id], [200, record.id]);
      const old = await edit('GET', `${type}/${key}?published=true`);
      assert.equal((old.json as WireRecord)['description'], record['description']);
      assert.equal((await edit('DELETE', `${type}/${key}?force=true`)).status, 200);
      assert.equal((await edit('GET', `${type}/${record.id}`)).status, 404);
      assert.equal((await edit('POST', `discard/${type}`)).status, 200);
    }
  });

  it('C30 takes the body that it gave without a change', async () => {
    const { types } = (await edit('GET', 'types')).json as unknown as {
      readonly types: readonly { readonly key: string }[];
    };
    assert.equal(types.length, 9);
    for (const { key: type } of types) {
      const listed = (await edit('GET', type)).json as unknown as Record<string, WireRecord>;
      for (const { id } of Object.values(listed).slice(0, 25)) {
        const given = await edit('GET', `${type}/${id}`);
        const { updatedAt: _, ...rest } = given.json as WireRecord;
        for (const body of [given.json, rest]) {
          const put = await edit('PUT', `${type}/${id}`, body);
          assert.equal(put.status, 200, put.text);
          assert.equal(put.headers['etag'], given.headers['etag'], `${type} ${id}`);
        }
      }
    }
  });

  it('C44 the page of metrics tells version, counts, publications and the cache', async () => {
    const figures = async (): Promise<(name: string) => number> => {
      const { text } = await server.http.send('/metrics');
      return (name) => {
        const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
        assert.ok(line !== undefined, `${name} is missing`);
        return Number(line.slice(name.length + 1));
      };
    };
    const before = await figures();
    await edit('POST', 'items', { id: 'counted-1', name: 'Counted', category: 'barter' });
    const saved = (await edit('POST', 'save')).json['version'];
    await read('/api/items?limit=7');
    await read('/api/items?limit=7');
    const now = await figures();
    assert.equal(now('plinth_gamedata_version'), saved);
    const items = 'plinth_gamedata_records{kind="items"}';
    assert.equal(now(items), before(items) + 1);
    const published = 'plinth_gamedata_publish_duration_seconds_count';
    assert.equal(now(published), before(published) + 1);
    for (const outcome of ['hits', 'misses']) {
      const name = `plinth_gamedata_reply_cache_${outcome}_total`;
      assert.ok(now(name) > before(name), name);
    }
  });

  it('C30 answers what it cannot do with the codes of the real one', async () => {
    assert.equal((await edit('POST', 'items', { name: 'no id' })).status, 400);
    assert.equal((await edit('POST', 'spaceships', { id: 'a', name: 'b' })).status, 404);
    assert.equal((await edit('PUT', 'items/nobody', { name: 'b' })).status, 404);
    assert.equal((await edit('DELETE', 'items/nobody')).status, 404);
    assert.equal((await edit('POST', 'save/spaceships')).status, 400);
    const list = await edit('POST', 'types', { id: 'a', name: 'b' });
    assert.deepEqual([list.status, list.json['code']], [405, 'method_not_allowed']);
    assert.match(String(list.headers['allow']), /GET/);
    const { types } = (await read('/api/editor/types')).json as unknown as {
      types: { key: string; count: number }[];
    };
    assert.deepEqual(types[6], { key: 'itemPresets', count: 64 });
    const generated = await edit('POST', 'items?generateId=true', { name: 'made up' });
    assert.match(String(generated.json.data.id), /^[0-9a-f]{24}$/);
    const again = await edit('POST', 'items', { id: generated.json.data.id, name: 'twice' });
    assert.deepEqual([again.status, again.json['code']], [409, 'conflict']);
  });

  it('C31 asks for a token before anything else', async () => {
    for (const path of [
      '/api/editor/nothing',
      '/api/editor/items',
      '/api/editor/items/x?limit=bad',
    ]) {
      const answer = await server.http.send(path);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers['www-authenticate'], 'Bearer realm="gamedata-editor"');
      assert.deepEqual(JSON.parse(answer.text), { error: 'Unauthorized', code: 'unauthorized' });
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  });

  it('C22 names each fault of a body by its place', async () => {
    const answer = await edit('POST', 'items', {
      id: 'bad',
      name: 7,
      weight: -1,
      colour: 'red',
      size: 1,
    });
    assert.deepEqual([answer.status, answer.json['code']], [400, 'validation_failed']);
    const details = answer.json['details'] as { path: string; code: string }[];
    assert.deepEqual(details.map(({ path }) => path).sort(), [
      '/colour',
      '/name',
      '/size',
      '/weight',
    ]);
    const text = await server.http.send('/api/editor/items', {
      headers: { ...JSON_HEADERS, 'content-type': 'text/plain' },
      body: '{}',
    });
    assert.equal(text.status, 415);
    const broken = await server.http.send('/api/editor/items', {
      headers: JSON_HEADERS,
      body: '{"id":',
    });
    assert.equal(broken.status, 400);
    const large = { id: 'large', name: 'x', description: 'x'.repeat(300_000) };
    assert.equal((await edit('POST', 'items', large)).status, 413);
  });

  it('C23 both names of a ballistic number are served; two values are refused', async () => {
    const list = (await read('/api/ammunition?limit=1')).json['ammunition'] as WireRecord[];
    const id = String(list[0]?.id);
    const ballistics = { penetrationPower: 33 };
    const patched = await edit('PATCH', `ammunition/${id}`, { ballistics });
    const served = patched.json.data['ballistics'] as Record<string, unknown>;
    assert.deepEqual([served['penetration'], served['penetrationPower']], [33, 33]);
    const both = { ballistics: { penetration: 1, penetrationPower: 2 } };
    assert.equal((await edit('PATCH', `ammunition/${id}`, both)).status, 400);
  });

  it('C26 refuses to publish what does not fit together, and publishes nothing of it', async () => {
    await edit('POST', 'items', { id: 'fine', name: 'Fine' });
    await edit('POST', 'item-presets', { id: 'lost', name: 'Lost', baseId: 'nobody' });
    const { json } = await edit('GET', 'validate');
    assert.equal(json['valid'], false);
    const [error] = json['errors'] as Record<string, unknown>[];
    assert.deepEqual(
      [error?.['type'], error?.['id'], error?.['path']],
      ['itemPresets', 'lost', '/baseId'],
    );
    const version = (await read('/api')).json['dataVersion'];
    const saved = await edit('POST', 'save');
    assert.deepEqual([saved.status, saved.json['code']], [400, 'validation_failed']);
    assert.equal((await read('/api')).json['dataVersion'], version);
    assert.equal((await read('/api/items/fine')).status, 404);
  });

  it('C26 does not delete what others name, unless forced', async () => {
    const [quest] = (await read('/api/quests?limit=1')).json['quests'] as WireRecord[];
    const giver = String(quest?.['giverId']);
    const refusal = await edit('DELETE', `traders/${giver}`);
    assert.equal(refusal.status, 409);
    const details = refusal.json['details'] as { path: string }[];
    assert.ok(details.some(({ path }) => path === '/giverId'));
    assert.ok(details.length <= 50);
    assert.equal((await edit('DELETE', `traders/${giver}?force=true`)).status, 200);
    assert.equal((await edit('POST', 'save')).status, 400);
  });

  it('C28 a replaced id leads to the new one', async () => {
    await edit('POST', 'items', { id: 'old-id', name: 'Old' });
    await edit('POST', 'items', { id: 'new-id', name: 'New' });
    await edit('POST', 'save');
    await edit('DELETE', 'items/old-id?replacedBy=new-id');
    await edit('POST', 'save');
    const answer = await server.http.send('/api/items/old-id');
    assert.equal(answer.status, 301);
    assert.equal(answer.headers['location'], '/api/items/new-id');
    assert.equal(JSON.parse(answer.text).code, 'moved');
    const inFrench = await server.http.send('/api/items/old-id?lang=fr&fields=name');
    assert.equal(inFrench.headers['location'], '/api/items/new-id?lang=fr&fields=name');
  });

  it('a second move of a record made the first one forgotten', async () => {
    for (const id of ['cirb', 'cira', 'cirr']) await edit('POST', 'items', { id, name: id });
    await edit('POST', 'save');
    for (const [id, target] of [
      ['cirb', 'cira'],
      ['cira', 'cirr'],
    ]) {
      await edit('DELETE', `items/${id}?replacedBy=${target}`);
      await edit('POST', 'save');
    }
    for (const id of ['cira', 'cirb']) {
      const answer = await server.http.send(`/api/items/${id}`);
      assert.deepEqual([answer.status, answer.headers['location']], [301, '/api/items/cirr'], id);
    }
    // In a circle nothing is found: made again and given up.
    await edit('DELETE', 'items/cirr');
    await edit('POST', 'save');
    assert.equal((await server.http.send('/api/items/cirb')).status, 404);
  });

  it('C32 patches, undoes, redoes, discards and restores', async () => {
    await edit('POST', 'items', { id: 'p1', name: 'First', rarity: 'rare' });
    const patched = await edit('PATCH', 'items/p1', { name: 'Second', rarity: null });
    assert.deepEqual([patched.json.data['name'], patched.json.data['rarity']], ['Second', null]);
    await edit('POST', 'undo');
    assert.equal(((await edit('GET', 'items/p1')).json as WireRecord)['name'], 'First');
    await edit('POST', 'redo');
    assert.equal(((await edit('GET', 'items/p1')).json as WireRecord)['name'], 'Second');
    const { entries } = (await edit('GET', 'history?type=items&id=p1')).json as unknown as {
      entries: { op: string; seq: number }[];
    };
    assert.deepEqual(
      entries.map(({ op }) => op),
      ['redo', 'undo', 'update', 'create'],
    );
    const stale = await edit('POST', 'undo', { seq: entries[3]?.seq });
    assert.equal(stale.status, 409);
    assert.equal((await edit('POST', 'discard/items')).json['discarded'], 1);
    assert.equal((await edit('GET', 'items/p1')).status, 404);
  });

  it('takes no link that a browser reads as one of another host', async () => {
    await edit('POST', 'items', { id: 'l1', name: 'Linked' });
    for (const link of [
      '/\\evil.example/x',
      '\\\\evil.example',
      '//evil.example',
      'https:\\\\evil.example',
      'https://good.example\\@evil.example/',
      '/\t/evil.example',
      '/\u0001/evil.example',
      'https://a\u007f.example',
      'https://a\u0085.example',
      'javascript:alert(1)',
    ]) {
      for (const member of ['wiki', 'image']) {
        const { status, json } = await edit('PATCH', 'items/l1', { [member]: link });
        assert.deepEqual([status, json['code']], [400, 'validation_failed'], JSON.stringify(link));
      }
    }
    for (const link of ['/wiki/a%5Cb', 'items/a.webp', 'https://good.example/a?b=c#d', null]) {
      const { status } = await edit('PATCH', 'items/l1', { wiki: link, image: link });
      assert.equal(status, 200, String(link));
    }
  });

  it('C33 holds writers to the state they saw', async () => {
    const made = await edit('POST', 'items', { id: 'm1', name: 'One' });
    const tag = String(made.headers['etag']);
    const first = await edit('PUT', 'items/m1', { name: 'Two' }, { 'if-match': tag });
    assert.equal(first.status, 200);
    const late = await edit('PUT', 'items/m1', { name: 'Three' }, { 'if-match': tag });
    assert.deepEqual([late.status, late.json['code']], [412, 'precondition_failed']);
    assert.equal(late.headers['etag'], first.headers['etag']);
    const writers = ['a', 'b', 'c', 'd'].map((name) =>
      edit('PUT', 'items/m1', { name }, { 'if-match': String(first.headers['etag']) }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 412, 412, 412]);
  });

  it('C33 gives the same reply to the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'k-1' };
    const body = { id: 'i1', name: 'Once' };
    const replies = await Promise.all([1, 2, 3].map(() => edit('POST', 'items', body, key)));
    for (const { status, json } of replies) {
      assert.equal(status, 200);
      assert.deepEqual(json, replies[0]?.json);
    }
    const other = await edit('POST', 'items', { ...body, name: 'Twice' }, key);
    assert.equal(other.status, 409);
  });

  it('C27 lists versions, changes and bulk files that hold what they say', async () => {
    const from = Number((await read('/api')).json['dataVersion']);
    await edit('POST', 'items', { id: 'v1', name: 'Version' });
    await edit('POST', 'save', { message: 'one more' });
    const { json } = await read(`/api/changes?since=${from}`);
    assert.deepEqual(json['changes'], [
      { version: from + 1, kind: 'items', id: 'v1', op: 'created' },
    ]);
    const version = (await read(`/api/versions/${from + 1}`)).json;
    assert.equal(version['message'], 'one more');
    assert.deepEqual(version['changes'], { created: 1, updated: 0, deleted: 0 });
    assert.equal((await read(`/api/items/v1?version=${from}`)).status, 404);
    assert.equal((await read('/api/items?version=9999')).json['code'], 'unknown_version');
    const { files } = (await read('/api/bulk')).json as unknown as {
      files: {
        kind: string;
        format: string;
        url: string;
        bytes: number;
        sha256: string;
        count: number;
      }[];
    };
    const { createHash } = await import('node:crypto');
    for (const { url, bytes, sha256, format, count, kind } of files) {
      const answer = await server.http.send(url);
      assert.equal(answer.bytes.length, bytes);
      assert.equal(createHash('sha256').update(answer.bytes).digest('hex'), sha256);
      if (kind === 'all') continue;
      const records = format === 'json' ? JSON.parse(answer.text) : answer.text.trim().split('\n');
      assert.equal(records.length, count);
    }
    const latest = await server.http.send('/api/bulk/latest/items.json');
    assert.equal(latest.status, 302);
    assert.equal(latest.headers['location'], `/api/bulk/v${from + 1}/items.json`);
  });

  it('C18 and C20 bulk files are negotiated and revalidated as any reply', async () => {
    const url = '/api/bulk/v1/items.json';
    const send = (headers: Record<string, string>, path = url) =>
      server.http.send(path, { headers });
    const { headers } = await send({});
    const published = String(headers['last-modified']);
    const before = new Date(Date.parse(published) - 1000).toUTCString();
    assert.equal((await send({ 'if-modified-since': published })).status, 304);
    assert.equal((await send({ 'if-modified-since': before })).status, 200);
    const other = { 'if-none-match': '"other"', 'if-modified-since': published };
    assert.equal((await send(other)).status, 200, 'If-None-Match decides alone');
    assert.equal((await send({ 'accept-encoding': 'identity;q=0, *;q=0' })).status, 406);
    // Files are kept as they are and as gzip; what the client does not name it does not get.
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

  it('C38 and C41 exports what it imports, and changes nothing in a dry run', async () => {
    const exported = await server.http.send('/api/editor/export', { headers: JSON_HEADERS });
    const set = JSON.parse(exported.text) as { kinds: Record<string, WireRecord[]> };
    assert.equal(set.kinds['items']?.length, 420);
    const smaller = { ...set, kinds: { items: set.kinds['items']?.slice(0, 3) } };
    const dry = await edit('POST', 'import?mode=replace&dryRun=true', smaller);
    assert.equal(dry.status, 200, dry.text);
    assert.equal((dry.json['counts'] as Record<string, number>)['items'], 3);
    assert.equal((await edit('GET', 'items?limit=0')).json['total'], 420);
    const replaced = await edit('POST', 'import?mode=replace&publish=true', set);
    assert.equal(replaced.json['published'], true);
    const again = await server.http.send('/api/editor/export', { headers: JSON_HEADERS });
    assert.equal(again.text, exported.text);
  });

  it('C41 strict imports refuse a broken reference, others take it out and say so', async () => {
    const preset = {
      id: 'ip1',
      name: 'Preset',
      baseId: 'thing',
      mods: [{ slot: 'a', item: 'nobody' }],
    };
    const body = {
      format: 'plinth-gamedata/1',
      kinds: { items: [{ id: 'thing', name: 'Thing' }], itemPresets: [preset] },
    };
    const strict = await edit('POST', 'import?strict=true&publish=true', body);
    assert.deepEqual([strict.status, strict.json['code']], [400, 'validation_failed']);
    assert.equal((await edit('GET', 'items/thing')).status, 404);
    const repaired = await edit('POST', 'import?publish=true', body);
    assert.equal(repaired.status, 200, repaired.text);
    const warnings = repaired.json['warnings'] as { byCode: Record<string, number> };
    assert.ok((warnings.byCode['dangling_reference'] ?? 0) > 0);
    assert.deepEqual((await read('/api/item-presets/ip1')).json['mods'], []);
  });

  it('C41 large imports are read beside the others, and are refused as small ones are', async () => {
    const items = Array.from({ length: 3_000 }, (_entry, index) => ({
      id: `large-${index}`,
      name: `Large ${index}`,
      description: 'a long text. '.repeat(20),
    }));
    const body = (last: object): object => ({
      format: 'plinth-gamedata/1',
      kinds: { items: [...items, last] },
    });
    const faulty = await edit('POST', 'import?publish=true', body({ id: 'bad', name: 7 }));
    assert.deepEqual([faulty.status, faulty.json['code']], [400, 'validation_failed']);
    const [detail] = faulty.json['details'] as { path: string; id: string }[];
    assert.deepEqual([detail?.path, detail?.id], ['/kinds/items/3000/name', 'bad']);
    const twice = await edit('POST', 'import?publish=true', body({ id: 'large-7', name: 'x' }));
    assert.equal((twice.json['details'] as { code: string }[])[0]?.code, 'duplicate_id');
    const text = JSON.stringify(body({ id: 'cut', name: 'x' }));
    const cut = await server.http.send('/api/editor/import?publish=true', {
      headers: JSON_HEADERS,
      body: text.slice(0, -5),
    });
    assert.deepEqual([cut.status, JSON.parse(cut.text).code], [400, 'invalid_json']);
    assert.equal((await edit('GET', 'items/large-1')).status, 404);
    const dangling = { id: 'last', name: 'Last', handbook: { parent: 'nowhere', price: 1 } };
    const taken = await edit('POST', 'import?publish=true', body(dangling));
    assert.equal(taken.status, 200, taken.text);
    assert.deepEqual(taken.json['counts'], {
      ...Object.fromEntries(Object.keys(Object(taken.json['counts'])).map((key) => [key, 0])),
      items: 3_001,
    });
    const warnings = taken.json['warnings'] as { sample: { code: string; path: string }[] };
    assert.deepEqual(
      warnings.sample.map(({ code, path }) => [code, path]),
      [['dangling_reference', '/kinds/items/3000/handbook/parent']],
    );
    const [first] = (await read('/api/items?ids=large-2999')).json['items'] as WireRecord[];
    assert.equal(first?.['name'], 'Large 2999');
  });
});

describe('a killed server', () => {
  it('C35 has every acknowledged draft, and every publication whole', async () => {
    const env = { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN };
    const flags = ['--services', 'gamedata'];
    const keep = await ServerProcess.start({ flags, env });
    const { dataDir } = keep;
    let current = keep;
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const post = async (path: string, body: unknown) =>
        await current.http.send(`/api/editor/${path}`, {
          headers: JSON_HEADERS,
          body: JSON.stringify(body),
        });
      const writers = Array.from({ length: 12 }, async (_entry, index) => {
        const id = `k${round}-${index}`;
        const answer = await post('items', { id, name: id }).catch(() => undefined);
        if (answer?.status === 200) acknowledged.push(id);
        if (index === 6) await post('save', {}).catch(() => undefined);
      });
      await Promise.race(writers.slice(3 + round * 3));
      await current.kill();
      await Promise.all(writers);
      current = await ServerProcess.start({ flags, env, dataDir });
      for (const id of acknowledged) {
        const answer = await current.http.send(`/api/editor/items/${id}`, {
          headers: JSON_HEADERS,
        });
        assert.equal(answer.status, 200, `${id} is lost`);
      }
      const version = Number(JSON.parse((await current.http.send('/api')).text).dataVersion);
      const described = JSON.parse((await current.http.send(`/api/versions/${version}`)).text);
      const items = JSON.parse((await current.http.send('/api/items?limit=0')).text);
      assert.equal(described.counts.items, items.total);
    }
    await current.close();
    await keep.close();
  });

  it('C35 has either all of a large import or nothing', async () => {
    const env = { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN };
    const flags = ['--services', 'gamedata'];
    const keep = await ServerProcess.start({ flags, env });
    const { dataDir } = keep;
    const items = Array.from({ length: 6_000 }, (_entry, index) => ({
      id: `n${index}`,
      name: `Name ${index}`,
      description: 'a long text. '.repeat(20),
    }));
    const body = JSON.stringify({ format: 'plinth-gamedata/1', kinds: { items } });
    let current = keep;
    // The last one is not cut short, so that the test cannot pass without an import.
    for (const killAfterMs of [60, 250, 700, 1_500, undefined]) {
      const answer = current.http
        .send('/api/editor/import?publish=true', { headers: JSON_HEADERS, body })
        .catch(() => undefined);
      if (killAfterMs === undefined) await answer;
      else await new Promise((resolve) => setTimeout(resolve, killAfterMs));
      await current.kill();
      const isAcknowledged = (await answer)?.status === 200;
      current = await ServerProcess.start({ flags, env, dataDir });
      const { total } = JSON.parse((await current.http.send('/api/items?limit=0')).text);
      assert.ok(total === 6_420 || (total === 420 && !isAcknowledged), `${total} items`);
      if (killAfterMs === undefined) assert.equal(total, 6_420);
    }
    await current.close();
    await keep.close();
  });
});
