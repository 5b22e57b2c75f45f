// Source: gamedata, section 8.1.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';

const TOKEN = 'editor-token-for-tests';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const MAX_RECORD_COUNT = 60_000;

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({
    flags: ['--services', 'gamedata', '--gamedata-max-import-records', String(MAX_RECORD_COUNT)],
    env: { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
  });
});
after(() => server.close());

const itemsOf = (count: number, name: string): string =>
  JSON.stringify({
    format: 'plinth-gamedata/1',
    defaultLanguage: 'en',
    languages: ['en', 'fr'],
    kinds: {
      items: Array.from({ length: count }, (_, n) => ({ id: `i${n}`, name, shortName: 's' })),
    },
  });

describe('large imports', () => {
  it('an import of many records with one name took the square of their number', {
    timeout: 60_000, // 120 s were not enough
  }, async () => {
    const body = itemsOf(MAX_RECORD_COUNT, 'Same name');
    const path = '/api/editor/import?mode=merge&dryRun=true';
    let others = 0;
    let isDone = false;
    const importing = server.http.send(path, { headers: HEADERS, body }).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      assert.equal((await server.http.send('/api/items?limit=1')).status, 200);
      others += 1;
    }
    const answer = await importing;
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    assert.equal(JSON.parse(answer.text).counts.items, MAX_RECORD_COUNT);
    assert.ok(others > 10, `${others} others were answered meanwhile`);
  });

  it('an import of any number of records was taken, as long as its bytes were few enough', async () => {
    const body = itemsOf(MAX_RECORD_COUNT + 1, 'n');
    const answer = await server.http.send('/api/editor/import', { headers: HEADERS, body });
    assert.equal(answer.status, 413);
    assert.deepEqual(JSON.parse(answer.text), {
      error: `an import has at most ${MAX_RECORD_COUNT} records`,
      code: 'too_large',
    });
    assert.equal(
      (await server.http.send('/api/editor/items/i0', { headers: HEADERS })).status,
      404,
    );
  });

  it('an import went on for minutes after its client had left, and was stored', async () => {
    // An import may be done before its client has left: then another one tells.
    const isStored = async (name: string): Promise<boolean> => {
      const left = request(`${server.url}/api/editor/import`, { method: 'POST', headers: HEADERS });
      left.on('error', () => undefined);
      left.end(itemsOf(MAX_RECORD_COUNT, name));
      await once(left, 'finish');
      // On its way to the thread that reads it.
      assert.equal((await server.http.send('/api/items?limit=1')).status, 200);
      left.destroy();
      const body = JSON.stringify({ id: name, name: 'After', shortName: 'a', category: 'key' });
      const edited = await server.http.send('/api/editor/items', { headers: HEADERS, body });
      assert.equal(edited.status, 200, edited.text);
      const first = await server.http.send('/api/editor/items/i0', { headers: HEADERS });
      return first.text.includes(name);
    };
    let count = 0;
    while (await isStored(`left-${count}`)) assert.ok(++count < 5);
  });
});
