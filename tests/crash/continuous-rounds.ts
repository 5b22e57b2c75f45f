import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Chance, type OwnServer } from '../harness/index.js';
import { startNext } from './next-round.js';

const FLAGS = ['--without-auth', '--tsdb-buffer-flush-age-ms', '200'];
/** FOR includes rows that are written at the end of an interval and become durable after it. */
const CREATE =
  'CREATE CONTINUOUS QUERY sums ON d RESAMPLE FOR 5s BEGIN SELECT sum(v), count(v) INTO sums FROM points GROUP BY time(1s), host fill(none) END';

/** Rounds between two comparisons, each of which waits until all intervals are computed. */
const ROUNDS_PER_CHECK = 10;

type Rows = readonly (readonly unknown[])[];

async function rows(server: OwnServer, q: string): Promise<Rows> {
  const parameters = new URLSearchParams({ db: 'd', epoch: 's', q });
  const response = await server.http.send(`/query?${parameters}`, { method: 'POST' });
  const { results } = JSON.parse(response.text) as {
    results: [{ error?: string; series?: { values: Rows }[] }];
  };
  assert.equal(results[0].error, undefined, response.text);
  return results[0].series?.flatMap(({ values }) => values) ?? [];
}

/** Writes until the server is gone or `isOver`. Failures are expected when it is killed. */
async function write(server: OwnServer, isOver: () => boolean): Promise<void> {
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

/** Kills the server under load, and compares the results of a continuous query with its rows. */
export async function runContinuousRounds(options: {
  readonly seed: number;
  readonly roundCount: number;
  readonly report: (line: string) => void;
}): Promise<void> {
  const { seed, roundCount, report } = options;
  const chance = new Chance(seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-continuous-crash-'));
  let server = await startNext({ dataDir, flags: FLAGS }, false);
  try {
    await rows(server, 'CREATE DATABASE d');
    await rows(server, CREATE);
    for (let round = 1; round <= roundCount; round++) {
      let isOver = false;
      const writing = write(server, () => isOver);
      await sleep(chance.between(1200, 3200));
      await server.kill();
      isOver = true;
      await writing;
      server = await startNext({ dataDir, flags: FLAGS }, round === roundCount);
      if (round % ROUNDS_PER_CHECK > 0 && round < roundCount) continue;
      const count = await verify(server);
      assert.ok(count > round, `seed ${seed}`);
      report(`seed ${seed}, round ${round} of ${roundCount}: ${count} results`);
    }
  } finally {
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Waits until all intervals are computed, and returns the number of results. */
async function verify(server: OwnServer): Promise<number> {
  const expected = await rows(
    server,
    'SELECT sum(v), count(v) FROM points GROUP BY time(1s), host fill(none)',
  );
  let actual: Rows = [];
  for (let i = 0; i < 150 && !isDeepStrictEqual(actual, expected); i++) {
    await sleep(100);
    actual = await rows(server, 'SELECT "sum", "count" FROM sums GROUP BY host');
  }
  assert.deepEqual(actual, expected);
  return expected.length;
}
