// Expected results: tsdb-http, "Retention".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { OpenTsdb } from '#src/service.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { renderResult } from '#src/testing/render-result.js';

const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const PERIOD_NS = 3_600_000_000_000n;
const clock = new ManualClock(START_MS);
let node: OpenTsdb;
const dataDir = await temporaryFolder();
before(async () => {
  node = await openTestNode(dataDir, { clock });
  await node.catalog.createDatabase('hour', PERIOD_NS);
  await node.catalog.createDatabase('forever', undefined);
});
after(() => node.close());

async function write(database: string, lines: string): Promise<void> {
  const outcome = await node.engine.write({
    database,
    body: Buffer.from(lines),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 1_000_000,
    precision: 'nanosecond',
    acceptPartial: false,
    noSync: false,
    receivedNs: clock.nowNs(),
  });
  assert.deepEqual(outcome.refused, []);
}

async function query(database: string, text: string): Promise<string[]> {
  const { signal } = new AbortController();
  const params = new Map();
  return await renderResult(
    await node.engine.query({
      database,
      access: FULL_ACCESS,
      language: 'sql',
      text,
      params,
      signal,
    }),
  );
}

/** Values of the visible rows. */
const seen = async (database: string, where = '') =>
  (await query(database, `SELECT v FROM m ${where} ORDER BY v`)).slice(1);

/**
 * Timestamps relative to the start; the retention period of the database starts exactly at row 2.
 */
const lines = (): string =>
  [
    ['1', -PERIOD_NS - 1n],
    ['2', -PERIOD_NS],
    ['3', -PERIOD_NS + 1n],
    ['4', 0n],
    ['5', PERIOD_NS],
  ]
    .map(
      ([value, offsetNs]) =>
        `m,t=a v=${value}i ${BigInt(START_MS) * 1_000_000n + BigInt(offsetNs ?? 0n)}`,
    )
    .join('\n');

describe('a retention period', () => {
  it('S-03 accepts older rows and hides them, to the nanosecond', async () => {
    await write('hour', lines());
    assert.deepEqual(await seen('hour'), ['2', '3', '4', '5']);
    assert.deepEqual(await seen('hour', "WHERE time < '2026-01-01T00:00:00Z'"), ['2', '3']);
    assert.deepEqual((await query('hour', 'SELECT count(*) AS n FROM m')).slice(1), ['4']);
    assert.deepEqual((await query('hour', 'SELECT min(v) AS v FROM m')).slice(1), ['2']);
  });

  it('S-03 hides rows when they leave its window', async () => {
    await clock.advanceNs(1n);
    assert.deepEqual(await seen('hour'), ['3', '4', '5']);
    await clock.advanceMs(HOUR_MS);
    assert.deepEqual(await seen('hour'), ['5']);
  });

  it('S-03 hides rows in segments and after a restart as well', async () => {
    await flushEngine(node.engine);
    await node.close();
    node = await openTestNode(dataDir, { clock });
    assert.deepEqual(await seen('hour'), ['5']);
    await clock.advanceMs(2 * HOUR_MS);
    assert.deepEqual(await seen('hour'), []);
  });

  it('S-03 applies to one database: others keep everything', async () => {
    await write('forever', lines());
    assert.deepEqual(await seen('forever'), ['1', '2', '3', '4', '5']);
  });
});
