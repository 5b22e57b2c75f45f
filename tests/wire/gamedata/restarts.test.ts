// Source: gamedata, sections 2.6, 6.2 and 6.5.
// Own process: it is killed under load.
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startNext } from '../../crash/next-round.js';
import { ServerInProcess, ServerProcess, WITH_SAMPLE_DATA } from '../../harness/index.js';
import { type Envelope, getJson, type WireRecord } from './game-client.js';
import { done, EDITOR_TOKEN, edit } from './shared-nodes.js';

const STARTED = {
  flags: ['--services', 'gamedata'],
  env: { ...WITH_SAMPLE_DATA, PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR_TOKEN },
} as const;
const ROUND_COUNT = 3;
/** The last kill that interrupts an import. */
const LAST_KILL_MS = 1_500;

describe('a killed server', () => {
  it('has every acknowledged draft, and every publication complete', async () => {
    const keep = await ServerProcess.start(STARTED);
    const { dataDir } = keep;
    let current: ServerInProcess | ServerProcess = keep;
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUND_COUNT; round++) {
      const post = (path: string, body: unknown) =>
        edit(current, 'POST', path, body).catch(() => undefined);
      const writers = Array.from({ length: 12 }, async (_entry, index) => {
        const id = `k${round}-${index}`;
        const response = await post('items', { id, name: id });
        if (response?.status === 200) acknowledged.push(id);
        if (index === 6) await post('save', {});
      });
      await Promise.race(writers.slice(3 + round * 3));
      await current.kill();
      await Promise.all(writers);
      current = await startNext({ ...STARTED, dataDir }, round === ROUND_COUNT - 1);
      for (const id of acknowledged) {
        assert.equal((await edit(current, 'GET', `items/${id}`)).status, 200, `${id} is lost`);
      }
      const read = async (path: string) => (await getJson<WireRecord>(current, path)).body;
      const { counts } = await read(`/api/versions/${(await read('/api'))['dataVersion']}`);
      const { total } = await read('/api/items?limit=0');
      assert.equal(Reflect.get(Object(counts), 'items'), total);
    }
    await current.close();
    await keep.close();
  });

  it('has either all of a large import or nothing', async () => {
    const keep = await ServerProcess.start(STARTED);
    const { dataDir } = keep;
    const items = Array.from({ length: 6_000 }, (_entry, index) => ({
      id: `n${index}`,
      name: `Name ${index}`,
      description: 'a long text. '.repeat(20),
    }));
    const body = { format: 'plinth-gamedata/1', kinds: { items } };
    let current: ServerInProcess | ServerProcess = keep;
    // The last kill comes after the import, so that the test cannot pass without a completed
    // import.
    for (const killAfterMs of [60, 250, 700, LAST_KILL_MS, undefined]) {
      const path = 'import?publish=true';
      const response = edit(current, 'POST', path, body).catch(() => undefined);
      if (killAfterMs === undefined) await response;
      else await new Promise((resolve) => setTimeout(resolve, killAfterMs));
      await current.kill();
      const isAcknowledged = (await response)?.status === 200;
      // After the last interruption, servers are killed only when they are idle.
      const isIdle = killAfterMs === undefined || killAfterMs === LAST_KILL_MS;
      current = await startNext({ ...STARTED, dataDir }, isIdle);
      const { total } = (await getJson<Envelope>(current, '/api/items?limit=0')).body;
      assert.ok(total === 6_420 || (total === 420 && !isAcknowledged), `${total} items`);
      if (killAfterMs === undefined) assert.equal(total, 6_420);
    }
    await current.close();
    await keep.close();
  });

  it('has the same draft order after deletions were undone, and the same ETag', async () => {
    await using first = await ServerInProcess.start(STARTED);
    const idsOf = async (server: ServerInProcess): Promise<readonly string[]> => {
      const { json } = await done(server, 'GET', 'items?limit=5000');
      return (json.data as unknown as WireRecord[]).map(({ id }) => id);
    };
    const etagOf = async (server: ServerInProcess) =>
      (await getJson<Envelope>(server, '/api/items?limit=5')).headers['etag'];
    const [before, etag] = [await idsOf(first), await etagOf(first)];
    const gone = [before[0], before[7], before.at(-1)];
    for (const id of gone) await done(first, 'DELETE', `items/${id}?force=true`);
    for (const _ of gone) await done(first, 'POST', 'undo');
    assert.deepEqual(await idsOf(first), before);
    await first.kill();
    await using second = await ServerInProcess.start({ ...STARTED, dataDir: first.dataDir });
    assert.deepEqual([await idsOf(second), await etagOf(second)], [before, etag]);
  });
});

describe('a server whose stored versions are damaged', () => {
  it('answers 503 over either transport until an import fixes it', async () => {
    await using first = await ServerInProcess.start(STARTED);
    const { total } = (await getJson<Envelope>(first, '/api/items')).body;
    const { json: exported } = await done(first, 'GET', 'export');
    await first.stop();
    const folder = join(first.dataDir, 'objects/gamedata/lines');
    const names = await readdir(folder);
    assert.ok(names.length > 0);
    for (const name of names) await writeFile(join(folder, name), 'damaged');

    await using server = await ServerInProcess.start({ ...STARTED, dataDir: first.dataDir });
    for (const path of ['/api/items', '/api/bulk/v1/items.json']) {
      for (const headers of [{}, { te: 'trailers' }]) {
        const response = await server.http.send(path, { headers });
        assert.deepEqual(
          [response.status, JSON.parse(response.text).code],
          [503, 'unavailable'],
          path,
        );
        assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
      }
    }
    assert.equal((await edit(server, 'POST', 'save')).status, 503);
    await done(server, 'POST', 'import?mode=replace&publish=true', exported);
    assert.equal((await getJson<Envelope>(server, '/api/items')).body.total, total);
  });
});
