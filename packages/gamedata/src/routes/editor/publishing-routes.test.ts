// Source: gamedata, sections 4.1 to 4.4 and 6.2.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Envelope, TestGameData, type WireRecord } from '../../testing/test-game-data.js';

describe('publications', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());
  beforeEach(() => service.done('POST', 'versions/1/restore'));

  it('rejects a draft with broken references completely', async () => {
    await service.edit('POST', 'items', { id: 'fine', name: 'Fine' });
    await service.edit('POST', 'item-presets', { id: 'lost', name: 'Lost', baseId: 'nobody' });
    const { json } = await service.edit('GET', 'validate');
    assert.equal(json['valid'], false);
    const [error] = json['errors'] as Record<string, unknown>[];
    assert.deepEqual(
      [error?.['type'], error?.['id'], error?.['path']],
      ['itemPresets', 'lost', '/baseId'],
    );
    const version = (await service.read('/api')).json['dataVersion'];
    const saved = await service.edit('POST', 'save');
    assert.deepEqual([saved.status, saved.json['code']], [400, 'validation_failed']);
    assert.equal((await service.read('/api')).json['dataVersion'], version);
    assert.equal((await service.read('/api/items/fine')).status, 404);
  });

  it('deletes a referenced record only when forced', async () => {
    const [quest] = (await service.read('/api/quests?limit=1')).json['quests'] as WireRecord[];
    const giver = String(quest?.['giverId']);
    const refusal = await service.edit('DELETE', `traders/${giver}`);
    assert.equal(refusal.status, 409);
    const details = refusal.json['details'] as { path: string }[];
    assert.ok(details.some(({ path }) => path === '/giverId'));
    assert.ok(details.length <= 50);
    await service.done('DELETE', `traders/${giver}?force=true`);
    assert.equal((await service.edit('POST', 'save')).status, 400);
  });

  it('redirects a replaced id to the new one', async () => {
    await service.edit('POST', 'items', { id: 'old-id', name: 'Old' });
    await service.edit('POST', 'items', { id: 'new-id', name: 'New' });
    await service.edit('POST', 'save');
    await service.edit('DELETE', 'items/old-id?replacedBy=new-id');
    await service.edit('POST', 'save');
    const response = await service.send('/api/items/old-id');
    assert.equal(response.status, 301);
    assert.equal(response.headers['location'], '/api/items/new-id');
    assert.equal(JSON.parse(response.text).code, 'moved');
    const inFrench = await service.send('/api/items/old-id?lang=fr&fields=name');
    assert.equal(inFrench.headers['location'], '/api/items/new-id?lang=fr&fields=name');
  });

  it('keeps the first redirect when a record moves again', async () => {
    for (const id of ['cirb', 'cira', 'cirr'])
      await service.edit('POST', 'items', { id, name: id });
    await service.edit('POST', 'save');
    for (const [id, target] of [
      ['cirb', 'cira'],
      ['cira', 'cirr'],
    ]) {
      await service.edit('DELETE', `items/${id}?replacedBy=${target}`);
      await service.edit('POST', 'save');
    }
    for (const id of ['cira', 'cirb']) {
      const response = await service.send(`/api/items/${id}`);
      assert.deepEqual(
        [response.status, response.headers['location']],
        [301, '/api/items/cirr'],
        id,
      );
    }
    // In a cycle no record is found: the id was reused and removed again.
    await service.edit('DELETE', 'items/cirr');
    await service.edit('POST', 'save');
    assert.equal((await service.send('/api/items/cirb')).status, 404);
  });

  it('lists versions, changes and bulk files', async () => {
    const from = Number((await service.read('/api')).json['dataVersion']);
    await service.edit('POST', 'items', { id: 'v1', name: 'Version' });
    await service.edit('POST', 'save', { message: 'one more' });
    const { json } = await service.read(`/api/changes?since=${from}`);
    assert.deepEqual(json['changes'], [
      { version: from + 1, kind: 'items', id: 'v1', op: 'created' },
    ]);
    const version = (await service.read(`/api/versions/${from + 1}`)).json;
    assert.equal(version['message'], 'one more');
    assert.deepEqual(version['changes'], { created: 1, updated: 0, deleted: 0 });
    assert.equal((await service.read(`/api/items/v1?version=${from}`)).status, 404);
    assert.equal((await service.read('/api/items?version=9999')).json['code'], 'unknown_version');
    const { files } = (await service.read('/api/bulk')).json as unknown as {
      files: {
        kind: string;
        format: string;
        url: string;
        bytes: number;
        sha256: string;
        count: number;
      }[];
    };

    for (const { url, bytes, sha256, format, count, kind } of files) {
      const response = await service.send(url);
      assert.equal(response.bytes.length, bytes);
      assert.equal(createHash('sha256').update(response.bytes).digest('hex'), sha256);
      if (kind === 'all') continue;
      const records =
        format === 'json' ? JSON.parse(response.text) : response.text.trim().split('\n');
      assert.equal(records.length, count);
    }
    const latest = await service.send('/api/bulk/latest/items.json');
    assert.equal(latest.status, 302);
    assert.equal(latest.headers['location'], `/api/bulk/v${from + 1}/items.json`);
  });

  it('returns pages of a pinned version without gaps or repeats during publications', async () => {
    const { dataVersion } = (await service.get<{ dataVersion: number }>('/api')).body;
    const pinned = `/api/items?version=${dataVersion}&fields=id`;
    const all = (await service.get(`${pinned}&limit=5000`)).body;
    const expected = (all.items ?? []).map(({ id }) => id);
    const seen: string[] = [];
    let next: string | null = `${pinned}&limit=60`;
    for (let page = 0; next !== null; page++) {
      await service.done('POST', 'items', { id: `new-${page}`, name: `New ${page}` });
      await service.done('DELETE', `items/${expected[page * 3]}?force=true`);
      await service.edit('POST', 'save/items');
      const { body }: { body: Envelope } = await service.get(next);
      seen.push(...(body.items ?? []).map(({ id }) => id));
      next = body.next;
    }
    assert.deepEqual(seen, expected);
  });
});
