// Source: query-languages, "Continuous queries": killing the process at any instant leaves no interval missing or doubled.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Chance, ServerProcess } from '../harness/index.js';

const ROUND_COUNT = 5;
const FLAGS = ['--without-auth', '--tsdb-buffer-flush-age-ms', '200'];
/** FOR includes rows that are written at the end of an interval and become durable after it. */
const CREATE =
  'CREATE CONTINUOUS QUERY sums ON d RESAMPLE FOR 5s BEGIN SELECT sum(v), count(v) INTO sums FROM points GROUP BY time(1s), host fill(none) END';

type Rows = readonly (readonly unknown[])[];

async function rows(server: ServerProcess, q: string): Promise<Rows> {
  const parameters = new URLSearchParams({ db: 'd', epoch: 's', q });
  const response = await server.http.send(`/query?${parameters}`, { method: 'POST' });
  const { results } = JSON.parse(response.text) as {
    results: [{ error?: string; series?: { values: Rows }[] }];
  };
  assert.equal(results[0].error, undefined, response.text);
  return results[0].series?.flatMap(({ values }) => values) ?? [];
}

/** Writes until the server is gone or `isOver`. Failures are expected when it is killed. */
async function write(server: ServerProcess, isOver: () => boolean): Promise<void> {
  for (let i = 0; !isOver(); i++) {
    const body = `points,host=a v=${i}i\npoints,host=b v=1i`;
    const isWritten = await server.http.send('/write?db=d', { body }).then(
      ({ status }) => status === 204,
      () => false,
    );
    if (!isWritten) return;
    await sleep(10);
  }
}

describe('Continuous queries of a server killed under load', () => {
  it('compute every interval once', { timeout: 180_000 }, async (t) => {
    const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
    const chance = new Chance(seed);
    const dataDir = await mkdtemp(join(tmpdir(), 'plinth-continuous-crash-'));
    let server = await ServerProcess.start({ dataDir, flags: FLAGS });
    try {
      await rows(server, 'CREATE DATABASE d');
      await rows(server, CREATE);
      for (let round = 0; round < ROUND_COUNT; round++) {
        let isOver = false;
        const writing = write(server, () => isOver);
        await sleep(chance.between(1200, 3200));
        await server.kill();
        isOver = true;
        await writing;
        server = await ServerProcess.start({ dataDir, flags: FLAGS });
      }
      const expected = await rows(
        server,
        'SELECT sum(v), count(v) FROM points GROUP BY time(1s), host fill(none)',
      );
      t.diagnostic(`seed ${seed}: ${expected.length} intervals`);
      assert.ok(expected.length > ROUND_COUNT);
      let actual: Rows = [];
      for (let i = 0; i < 150 && !isDeepStrictEqual(actual, expected); i++) {
        await sleep(100);
        actual = await rows(server, 'SELECT "sum", "count" FROM sums GROUP BY host');
      }
      assert.deepEqual(actual, expected, `seed ${seed}`);
    } finally {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
