// Source: gamedata, sections 2.7, 3 and 6.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { EDITOR, TestGameData, type WireRecord } from '../../testing/test-game-data.js';

/** A complete surrogate pair is valid. */
const GOOD = { id: 'good', name: 'a \u{1f600} b', category: 'barter', extra: { note: 'c' } };
const BAD_TEXTS = ['\ud800', 'a\u0000', '\udc00b', 'x\ud83dy'];

describe('records in the editor', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());
  beforeEach(() => service.done('POST', 'versions/1/restore'));

  it('creates, replaces and deletes in a draft that readers see only after it is saved', async () => {
    const body = { id: 'thing-1', name: 'A made thing', category: 'barter' };
    const made = await service.done('POST', 'items', body);
    assert.equal(made.json['success'], true);
    assert.equal(made.json.data['name'], 'A made thing');
    assert.equal(made.headers['location'], '/api/editor/items/thing-1');
    assert.match(String(made.headers['etag']), /^"r\d+"$/);
    assert.equal((await service.read('/api/items/thing-1')).status, 404);
    const saved = await service.edit('POST', 'save/items');
    assert.deepEqual(
      [saved.json['success'], saved.json['message'], saved.json['changed']],
      [true, 'Data saved to file', 1],
    );
    assert.equal((await service.read('/api/items/thing-1')).json['name'], 'A made thing');
    const whole = (await service.edit('GET', 'items/thing-1')).json;
    const put = await service.edit('PUT', 'items/thing-1', { ...whole, name: 'Another name' });
    assert.deepEqual([put.status, put.json.data['name']], [200, 'Another name']);
    assert.equal((await service.edit('DELETE', 'items/thing-1')).json['success'], true);
    assert.equal((await service.edit('GET', 'items/thing-1')).status, 404);
    assert.equal((await service.read('/api/items/thing-1')).json['name'], 'A made thing');
    await service.edit('POST', 'save');
    assert.equal((await service.read('/api/items/thing-1')).status, 404);
  });

  it('finds traders and maps by the keys of their lists', async () => {
    for (const type of ['traders', 'maps']) {
      const listed = (await service.done('GET', type)).json as unknown as Record<
        string,
        WireRecord
      >;
      const [key, record] = Object.entries(listed)[0] ?? [];
      assert.ok(key !== undefined && record !== undefined);
      assert.equal(key, record['slug']);
      const one = await service.edit('GET', `${type}/${key}`);
      assert.deepEqual([one.status, one.json.id], [200, record.id]);
      const tag = String(one.headers['etag']);
      const renamed = { ...record, description: 'Named by its key.' };
      const put = await service.edit('PUT', `${type}/${key}`, renamed, { 'if-match': tag });
      assert.deepEqual([put.status, put.json.data.id], [200, record.id]);
      const old = await service.edit('GET', `${type}/${key}?published=true`);
      assert.equal(old.json['description'], record['description']);
      await service.done('DELETE', `${type}/${key}?force=true`);
      assert.equal((await service.edit('GET', `${type}/${record.id}`)).status, 404);
      await service.done('POST', `discard/${type}`);
    }
  });

  it('accepts records that it served, without modification', async () => {
    const { types } = (await service.edit('GET', 'types')).json as unknown as {
      readonly types: readonly { readonly key: string }[];
    };
    assert.equal(types.length, 9);
    for (const { key: type } of types) {
      const listed = (await service.done('GET', type)).json as unknown as Record<
        string,
        WireRecord
      >;
      for (const { id } of Object.values(listed).slice(0, 25)) {
        const given = await service.edit('GET', `${type}/${id}`);
        const { updatedAt: _, ...rest } = given.json;
        for (const body of [given.json, rest]) {
          const put = await service.done('PUT', `${type}/${id}`, body);
          assert.equal(put.headers['etag'], given.headers['etag'], `${type} ${id}`);
        }
      }
    }
  });

  it('refuses unknown types, missing ids and taken ids with their statuses', async () => {
    assert.equal((await service.edit('POST', 'items', { name: 'no id' })).status, 400);
    assert.equal((await service.edit('POST', 'spaceships', { id: 'a', name: 'b' })).status, 404);
    assert.equal((await service.edit('PUT', 'items/nobody', { name: 'b' })).status, 404);
    assert.equal((await service.edit('DELETE', 'items/nobody')).status, 404);
    assert.equal((await service.edit('POST', 'save/spaceships')).status, 400);
    const list = await service.edit('POST', 'types', { id: 'a', name: 'b' });
    assert.deepEqual([list.status, list.json['code']], [405, 'method_not_allowed']);
    assert.match(String(list.headers['allow']), /GET/);
    const { types } = (await service.read('/api/editor/types')).json as unknown as {
      types: { key: string; count: number }[];
    };
    assert.deepEqual(types[6], { key: 'itemPresets', count: 64 });
    const generated = await service.edit('POST', 'items?generateId=true', { name: 'made up' });
    assert.match(String(generated.json.data.id), /^[0-9a-f]{24}$/);
    const again = await service.edit('POST', 'items', {
      id: generated.json.data.id,
      name: 'twice',
    });
    assert.deepEqual([again.status, again.json['code']], [409, 'conflict']);
  });

  it('requires a token before any other check', async () => {
    for (const path of [
      '/api/editor/nothing',
      '/api/editor/items',
      '/api/editor/items/x?limit=bad',
    ]) {
      const response = await service.send(path);
      assert.equal(response.status, 401);
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="gamedata-editor"');
      assert.deepEqual(JSON.parse(response.text), { error: 'Unauthorized', code: 'unauthorized' });
      assert.equal(response.headers['access-control-allow-origin'], undefined);
    }
  });

  it('reports each fault of a body with its position', async () => {
    const response = await service.edit('POST', 'items', {
      id: 'bad',
      name: 7,
      weight: -1,
      colour: 'red',
      size: 1,
    });
    assert.deepEqual([response.status, response.json['code']], [400, 'validation_failed']);
    const details = response.json['details'] as { path: string; code: string }[];
    assert.deepEqual(details.map(({ path }) => path).sort(), [
      '/colour',
      '/name',
      '/size',
      '/weight',
    ]);
    const text = await service.send('/api/editor/items', {
      headers: { ...EDITOR, 'content-type': 'text/plain' },
      body: '{}',
    });
    assert.equal(text.status, 415);
    const broken = await service.send('/api/editor/items', {
      headers: EDITOR,
      body: '{"id":',
    });
    assert.equal(broken.status, 400);
    const large = { id: 'large', name: 'x', description: 'x'.repeat(300_000) };
    assert.equal((await service.edit('POST', 'items', large)).status, 413);
  });

  it('serves both aliases of a ballistic number, and rejects different values', async () => {
    const list = (await service.read('/api/ammunition?limit=1')).json['ammunition'] as WireRecord[];
    const id = String(list[0]?.id);
    const ballistics = { penetrationPower: 33 };
    const patched = await service.edit('PATCH', `ammunition/${id}`, { ballistics });
    const served = patched.json.data['ballistics'] as Record<string, unknown>;
    assert.deepEqual([served['penetration'], served['penetrationPower']], [33, 33]);
    const both = { ballistics: { penetration: 1, penetrationPower: 2 } };
    assert.equal((await service.edit('PATCH', `ammunition/${id}`, both)).status, 400);
  });

  it('rejects links that browsers resolve to another host', async () => {
    await service.edit('POST', 'items', { id: 'l1', name: 'Linked' });
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
        const { status, json } = await service.edit('PATCH', 'items/l1', { [member]: link });
        assert.deepEqual([status, json['code']], [400, 'validation_failed'], JSON.stringify(link));
      }
    }
    for (const link of ['/wiki/a%5Cb', 'items/a.webp', 'https://good.example/a?b=c#d', null]) {
      const { status } = await service.edit('PATCH', 'items/l1', { wiki: link, image: link });
      assert.equal(status, 200, String(link));
    }
  });

  it('rejects a change based on an outdated revision', async () => {
    const made = await service.edit('POST', 'items', { id: 'm1', name: 'One' });
    const tag = String(made.headers['etag']);
    const first = await service.done('PUT', 'items/m1', { name: 'Two' }, { 'if-match': tag });
    const late = await service.edit('PUT', 'items/m1', { name: 'Three' }, { 'if-match': tag });
    assert.deepEqual([late.status, late.json['code']], [412, 'precondition_failed']);
    assert.equal(late.headers['etag'], first.headers['etag']);
    const writers = ['a', 'b', 'c', 'd'].map((name) =>
      service.edit('PUT', 'items/m1', { name }, { 'if-match': String(first.headers['etag']) }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 412, 412, 412]);
  });

  it('returns the same reply for the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'k-1' };
    const body = { id: 'i1', name: 'Once' };
    const replies = await Promise.all(
      [1, 2, 3].map(() => service.edit('POST', 'items', body, key)),
    );
    for (const { status, json } of replies) {
      assert.equal(status, 200);
      assert.deepEqual(json, replies[0]?.json);
    }
    const other = await service.edit('POST', 'items', { ...body, name: 'Twice' }, key);
    assert.equal(other.status, 409);
  });

  it('reports every fault, including those of nullable members', async () => {
    const body = {
      id: 'faulty',
      name: 'x'.repeat(201),
      shortName: 'y'.repeat(65),
      rarity: 'odd',
      category: 'ship',
      weight: -1,
      handbook: { parent: null, price: -1 },
      colour: 'red',
    };
    const { status, json } = await service.edit('POST', 'items', body);
    assert.deepEqual([status, json['code']], [400, 'validation_failed']);
    const paths = (json['details'] as { path: string }[]).map(({ path }) => path).sort();
    const expected = [
      '/category',
      '/colour',
      '/handbook/price',
      '/name',
      '/rarity',
      '/shortName',
      '/weight',
    ];
    assert.deepEqual(paths, expected);
  });

  it('rejects a member __proto__ like any unknown member', async () => {
    const text = '{"id":"proto","name":"x","handbook":{"__proto__":{"price":1}}}';
    const { status, json } = await service.edit('POST', 'items', text);
    assert.equal(status, 400);
    assert.deepEqual(json['details'], [
      {
        path: '/handbook/__proto__',
        code: 'unknown_member',
        message: 'unknown member __proto__',
      },
    ]);
  });

  it('returns the same headers for the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'same-headers' };
    const make = () => service.edit('POST', 'items', { id: 'same-headers', name: 'Once' }, key);
    const [first, second] = [await make(), await make()];
    assert.equal(second.text, first.text);
    for (const name of ['etag', 'location']) {
      assert.match(String(first.headers[name]), /^["/]/);
      assert.equal(second.headers[name], first.headers[name], name);
    }
  });

  it('rejects NUL and lone surrogates in a record, and changes nothing', async () => {
    await service.done('POST', 'items', GOOD);
    const before = (await service.done('GET', 'types')).json;
    for (const text of BAD_TEXTS) {
      const places: readonly (readonly [string, object])[] = [
        ['/name', { name: text }],
        ['/description', { description: text }],
        ['/tags/1', { tags: ['a', text] }],
        ['/extra/a~1b/0', { extra: { 'a/b': [text] } }],
        ['/extra', { extra: { [text]: 1 } }],
        ['/locales/fr/name', { locales: { fr: { name: text } } }],
      ];
      for (const [path, change] of places) {
        const wanted = [`invalid_text ${path}`];
        const bad = { ...GOOD, ...change };
        assert.deepEqual(await service.faults('POST', 'items', { ...bad, id: 'bad' }), wanted);
        assert.deepEqual(await service.faults('PUT', 'items/good', bad), wanted);
        assert.deepEqual(await service.faults('PATCH', 'items/good', change), wanted);
      }
    }
    assert.deepEqual((await service.done('GET', 'types')).json, before);
    assert.equal((await service.edit('GET', 'items/good')).json['name'], GOOD.name);
    assert.equal((await service.edit('GET', 'items/bad')).status, 404);
  });
});
