// Source: gamedata, sections 2.6, 6.5 and 9.1. 503 is the row `unavailable` of its errors.
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EDITOR, TestGameData, type WireRecord } from './testing/test-game-data.js';

describe('game data without a readable version', () => {
  let service: TestGameData;
  let total = 0;
  let exported = '';
  before(async () => {
    service = await TestGameData.start();
    ({ total } = (await service.get('/api/items')).body);
    exported = (await service.done('GET', 'export')).text;
    await service.stop();
    const folder = join(service.dataDir, 'objects/gamedata/lines');
    const names = await readdir(folder);
    assert.ok(names.length > 0);
    for (const name of names) await writeFile(join(folder, name), 'damaged');
    await service.restart();
  });
  after(() => service[Symbol.asyncDispose]());

  it('returns 503 for every public read', async () => {
    assert.ok(total > 0);
    for (const path of [
      '/api/items',
      '/api/items/',
      '/api/items?version=1',
      '/api/items/any',
      '/api/maps?fields=name',
      '/api/items/categories/list',
      '/api/search?q=abc',
      '/api/suggest?q=abc',
      '/api/versions',
      '/api/versions/1',
      '/api/changes?since=0',
      '/api/bulk',
      '/api/bulk/latest/items.json',
      '/api/bulk/v1/items.json',
    ]) {
      const response = await service.send(path);
      assert.equal(response.status, 503, `${path}: ${response.text.slice(0, 200)}`);
      assert.deepEqual(JSON.parse(response.text), {
        error: 'the game data is temporarily unavailable; retry later',
        code: 'unavailable',
      });
      assert.equal(response.headers['cache-control'], 'no-store');
      assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    }
  });

  it('returns 503 for exports, so that an empty file is not taken for a backup', async () => {
    for (const path of ['export', 'export?drafts=true', 'export?format=tarkovdata']) {
      assert.equal((await service.edit('GET', path)).status, 503, path);
    }
  });

  it('keeps its documentation and the API of the editor available, and reports the problem in the index', async () => {
    assert.equal((await service.get<WireRecord>('/api')).body['degraded'], true);
    for (const path of ['/api/openapi.json', '/api/schemas', '/api/schemas/items', '/api/docs']) {
      assert.equal((await service.send(path)).status, 200, path);
    }
    for (const path of ['/api/editor/types', '/api/editor/versions']) {
      assert.equal((await service.send(path, { headers: EDITOR })).status, 200, path);
    }
  });

  it('does not replace unreadable versions by a draft', async () => {
    for (const path of ['save', 'save/items', 'versions/1/restore']) {
      const { status, text } = await service.edit('POST', path, {});
      assert.equal(status, 503, `${path}: ${text}`);
    }
    assert.equal((await service.send('/api/items')).status, 503);
  });

  it('is fixed by an import, also after a restart', async () => {
    await service.done('POST', 'import?mode=replace&publish=true', exported);
    assert.equal((await service.get('/api/items')).body.total, total);
    await service.restart();
    assert.equal((await service.get('/api/items')).body.total, total);
    const index = (await service.get<WireRecord>('/api')).body;
    assert.deepEqual([index['dataVersion'], index['degraded']], [2, undefined]);
    // The earlier version is still listed, and still unreadable.
    const old = await service.send('/api/items?version=1');
    assert.equal(old.status, 503, old.text);
  });
});
