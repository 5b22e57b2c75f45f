// Source: gamedata, sections 2.6, 6.5 and 9.1: stored versions that cannot be read. 503 is the row `unavailable` of its errors.
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';
import { type Envelope, getJson, type WireRecord } from './game-client.js';

const TOKEN = 'editor-token-for-tests';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const STARTED = {
  flags: ['--services', 'gamedata'],
  env: { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
};

async function damageLines(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'objects/gamedata/lines');
  const names = await readdir(folder);
  assert.ok(names.length > 0);
  for (const name of names) await writeFile(join(folder, name), 'damaged');
}

describe('game data of which no stored version can be read', () => {
  /** Owns the data folder. */
  let first: ServerProcess;
  let server: ServerProcess;
  let total = 0;
  let exported = '';
  before(async () => {
    first = await ServerProcess.start(STARTED);
    total = (await getJson<Envelope>(first, '/api/items')).body.total;
    exported = (await first.http.send('/api/editor/export', { headers: HEADERS })).text;
    await first.stop();
    await damageLines(first.dataDir);
    server = await ServerProcess.start({ ...STARTED, dataDir: first.dataDir });
  });
  after(async () => {
    await server.close();
    await first.close();
  });

  it('answers 503 to every public read, through the framework and past it', async () => {
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
      for (const headers of [{}, { 'x-by-the-framework': 'yes' }]) {
        const answer = await server.http.send(path, { headers });
        assert.equal(answer.status, 503, `${path}: ${answer.text.slice(0, 200)}`);
        assert.deepEqual(JSON.parse(answer.text), {
          error: 'the game data cannot be read at the moment',
          code: 'unavailable',
        });
        assert.equal(answer.headers['cache-control'], 'no-store');
        assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
      }
    }
  });

  it('keeps its documents and the editor open, and says in the index what is wrong', async () => {
    assert.equal((await getJson<WireRecord>(server, '/api')).body['degraded'], true);
    for (const path of ['/api/openapi.json', '/api/schemas', '/api/schemas/items', '/api/docs']) {
      assert.equal((await server.http.send(path)).status, 200, path);
    }
    for (const path of ['/editor/', '/api/editor/types', '/api/editor/versions']) {
      assert.equal((await server.http.send(path, { headers: HEADERS })).status, 200, path);
    }
  });

  it('does not publish what an editor changed of nothing in place of what cannot be read', async () => {
    const save = { method: 'POST', headers: HEADERS, body: '{}' };
    for (const path of ['save', 'save/items', 'versions/1/restore']) {
      const answer = await server.http.send(`/api/editor/${path}`, save);
      assert.equal(answer.status, 503, `${path}: ${answer.text}`);
    }
    assert.equal((await server.http.send('/api/items')).status, 503);
  });

  it('is mended by an import, also beyond a restart', async () => {
    const imported = await server.http.send('/api/editor/import?mode=replace&publish=true', {
      method: 'POST',
      headers: HEADERS,
      body: exported,
    });
    assert.equal(imported.status, 200, imported.text.slice(0, 300));
    assert.equal((await getJson<Envelope>(server, '/api/items')).body.total, total);
    await server.stop();
    server = await ServerProcess.start({ ...STARTED, dataDir: first.dataDir });
    assert.equal((await getJson<Envelope>(server, '/api/items')).body.total, total);
    const index = (await getJson<WireRecord>(server, '/api')).body;
    assert.deepEqual([index['dataVersion'], index['degraded']], [2, undefined]);
    // The version of before is listed, and still cannot be read.
    const old = await server.http.send('/api/items?version=1');
    assert.equal(old.status, 503, old.text);
  });
});
