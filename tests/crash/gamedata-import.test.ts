// Source: gamedata, sections 6.5 and 8.1: a server that is killed during an import. Own process: it is killed.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, ServerInProcess, type ServerProcess, WITH_SAMPLE_DATA } from '../harness/index.js';
import { startNext } from './next-round.js';

const TOKEN = 'editor-token-for-tests';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const OPTIONS = {
  flags: ['--services', 'gamedata', '--gamedata-text-memory-bytes', '500kb'],
  env: { ...WITH_SAMPLE_DATA, PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
};
const ITEM_COUNT = 8_000;
const ROUND_COUNT = 6;

/** A data set in which every record names the import it belongs to. */
const setOf = (round: number): string =>
  JSON.stringify({
    format: 'plinth-gamedata/1',
    defaultLanguage: 'en',
    languages: ['en'],
    kinds: {
      items: Array.from({ length: ITEM_COUNT }, (_, index) => ({
        id: `i${index}`,
        name: `Thing ${index} of import ${round}`,
        description: 'Lies about. '.repeat(8),
        tags: [`import-${round}`],
      })),
    },
  });

describe('an import that a kill interrupts', () => {
  let current: ServerInProcess | ServerProcess | undefined;
  after(() => current?.close());

  it('leaves either the complete old version or the complete new one, never a mix', async () => {
    const chance = new Chance(7);
    // This one is killed when it is idle.
    const first = await ServerInProcess.start(OPTIONS);
    const { dataDir } = first;
    current = first;
    /** Rounds whose import got a response. */
    let acknowledged = 0;
    let killedMidwayCount = 0;
    let durationMs = 0;
    for (let round = 1; round <= ROUND_COUNT; round += 1) {
      const server: ServerInProcess | ServerProcess = current;
      // The first import measures the duration; the others are interrupted at some point of it.
      const startMs = performance.now();
      const response: Promise<number | undefined> = server.http
        .send('/api/editor/import?mode=replace&publish=true', {
          headers: HEADERS,
          body: setOf(round),
        })
        .then(
          ({ status }) => status,
          () => undefined,
        );
      if (round > 1) {
        await Promise.race([response, sleep(chance.between(0, Math.floor(durationMs)))]);
        await server.kill();
      }
      const status = await response;
      if (round === 1) {
        durationMs = performance.now() - startMs;
        assert.equal(status, 200);
        await server.kill();
      }
      if (status === 200) acknowledged = round;
      else killedMidwayCount += 1;

      current = await startNext({ ...OPTIONS, dataDir }, round === ROUND_COUNT);
      const list = JSON.parse(
        (await current.http.send('/api/items?limit=5000&fields=tags')).text,
      ) as { total: number; items: { tags: string[] }[] };
      assert.equal(list.total, ITEM_COUNT);
      const rounds = new Set(list.items.flatMap(({ tags }) => tags));
      assert.equal(rounds.size, 1, `a mix of ${[...rounds].join(' and ')}`);
      const found = Number([...rounds][0]?.replace('import-', ''));
      assert.ok(
        found === acknowledged || found === round,
        `import ${found} is served after ${acknowledged} was acknowledged and ${round} was cut`,
      );
      acknowledged = found;
      // The draft equals the published data: it contains no data of the interrupted import.
      const types = JSON.parse(
        (await current.http.send('/api/editor/types', { headers: HEADERS })).text,
      ) as { types: { key: string; changed: number }[] };
      for (const { key, changed } of types.types) assert.equal(changed, 0, key);
    }
    assert.ok(killedMidwayCount >= 1, 'no kill came while an import ran');
    await first.close();
  });
});
