// Source: query-languages, "Deleting rows by field values".
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import type { DeletePointsRequest } from '@plinth/tsdb-model/engine.js';
import type { OpenTsdb } from '#src/service.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

let dataDir = '';
let clock: ManualClock;
let node: OpenTsdb;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-delete-points-'));
  clock = new ManualClock(Date.UTC(2026, 0, 1));
  node = await openTestNode(join(dataDir, 'node'), { clock });
  await node.catalog.ensureDatabase(TEST_DATABASE);
});
afterEach(async () => {
  await node.close();
  await rm(dataDir, { recursive: true, force: true });
});

const DONE = '{"results":[{"statement_id":0}]}\n';
const remove = async (condition: string): Promise<void> =>
  assert.equal(await queryInfluxql(node, `DELETE FROM m WHERE ${condition}`), DONE, condition);
const rows = async (): Promise<string[]> =>
  (await query(node, 'SELECT t, v, w, extract(nanosecond from time) AS ns FROM m ORDER BY t, time'))
    .slice(1)
    .map((row) => row.replaceAll(' | ', ',').replace(/(?<=\d)\.0\b/g, ''));

async function restart(): Promise<void> {
  await node.close();
  node = await openTestNode(join(dataDir, 'node'), { clock });
}

/** Continues on a copy of the folder of a running server, as after `kill -9`. */
async function kill(): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await cp(join(dataDir, 'node'), join(dataDir, 'copy'), { recursive: true });
      break;
    } catch (error) {
      // Compaction removes files in the background.
      if (attempt === 10 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await rm(join(dataDir, 'copy'), { recursive: true, force: true });
    }
  }
  await node.close();
  await rm(join(dataDir, 'node'), { recursive: true });
  await cp(join(dataDir, 'copy'), join(dataDir, 'node'), { recursive: true });
  await rm(join(dataDir, 'copy'), { recursive: true });
  node = await openTestNode(join(dataDir, 'node'), { clock });
}

/** Runs `work` after the rows of the next deletion were found, and before it is stored. */
function beforeItIsStored(work: () => Promise<void>): void {
  const { engine } = node;
  const deletePoints = engine.deletePoints.bind(engine);
  engine.deletePoints = (request: DeletePointsRequest) =>
    deletePoints({
      ...request,
      find: async (options) => {
        const found = await request.find(options);
        engine.deletePoints = deletePoints;
        await work();
        return found;
      },
    });
}

const BASE = ['m,t=a v=10,w=1 1', 'm,t=a v=20,w=1 2', 'm,t=b v=10,w=1 1', 'm,t=b w=1 3'];

for (const place of ['in memory', 'in files', 'rewritten in memory', 'rewritten in files'] as const)
  describe(`rows ${place}`, () => {
    beforeEach(async () => {
      const isRewritten = place.startsWith('rewritten');
      if (isRewritten) await writeLines(node, ['m,t=a v=99 1', 'm,t=a v=1 2', 'm,t=b v=99,w=9 1']);
      if (isRewritten) await node.engine.background.flusher.flush('all');
      await writeLines(node, BASE);
      if (place.endsWith('files')) await node.engine.background.flusher.flush('all');
    });

    it('disappear by their current value, for good, and later writes do not restore them', async () => {
      await remove('v = 10');
      const kept = ['a,20,1,2', 'b,NULL,1,3'];
      assert.deepEqual(await rows(), kept);
      await writeLines(node, ['m,t=a w=7 1']);
      const all = ['a,NULL,7,1', ...kept];
      assert.deepEqual(await rows(), all);
      await kill();
      assert.deepEqual(await rows(), all);
      await flushEngine(node.engine);
      assert.deepEqual(await rows(), all);
      for (let i = 0; i < 20 && node.engine.waitingDeletionCount > 0; i++) {
        await clock.advanceMs(1000);
        await flushEngine(node.engine);
      }
      assert.equal(node.engine.waitingDeletionCount, 0);
      assert.deepEqual(await rows(), all);
      await restart();
      assert.deepEqual(await rows(), all);
    });

    it('are selected by fields, tags and time together', async () => {
      await remove("(v >= 20 OR w > 1) AND t = 'a'");
      assert.deepEqual(await rows(), ['a,10,1,1', 'b,10,1,1', 'b,NULL,1,3']);
      await remove('v != 20 AND time > 1');
      assert.equal((await rows()).length, 3, 'rows without the field do not match');
      await remove('v != 20 AND t =~ /b/');
      assert.deepEqual(await rows(), ['a,10,1,1', 'b,NULL,1,3']);
    });

    it('written after the snapshot are kept, and a flush in the meantime waits', async () => {
      let flushing: Promise<void> | undefined;
      let isFlushed = false;
      beforeItIsStored(async () => {
        await writeLines(node, ['m,t=a w=5 1', 'm,t=b v=10 9']);
        flushing = flushEngine(node.engine).then(() => {
          isFlushed = true;
        });
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 5));
        assert.ok(!isFlushed);
      });
      await remove('v = 10');
      await flushing;
      const all = ['a,NULL,5,1', 'a,20,1,2', 'b,NULL,1,3', 'b,10,NULL,9'];
      assert.deepEqual(await rows(), all);
      await kill();
      assert.deepEqual(await rows(), all);
      await flushEngine(node.engine);
      await restart();
      assert.deepEqual(await rows(), all);
    });

    it('are kept if finding them takes too long, and the flush goes on', async () => {
      let flushing: Promise<void> | undefined;
      beforeItIsStored(async () => {
        await writeLines(node, ['m,t=c v=1 9']);
        flushing = flushEngine(node.engine);
        await clock.advanceMs(30_000);
        await flushing;
      });
      const error =
        "the search for the rows of table 'm' took longer than 30 s, and nothing was deleted; use a shorter time range";
      assert.equal(
        await queryInfluxql(node, 'DELETE FROM m WHERE v = 10'),
        `${JSON.stringify({ results: [{ statement_id: 0, error }] })}\n`,
      );
      assert.deepEqual(await rows(), [
        ...['a,10,1,1', 'a,20,1,2', 'b,10,1,1', 'b,NULL,1,3', 'c,1,NULL,9'],
      ]);
    });
  });

describe('concurrent writes of the same points', () => {
  it('are either before the deletion or after it, also during flushes', async () => {
    for (let round = 0; round < 4; round++) {
      const [count, from] = [300, round * 1000];
      const lines = (fields: string) =>
        Array.from({ length: count }, (_, i) => `m,t=${i % 5} ${fields} ${from + i}`);
      await writeLines(node, lines('v=1,w=1'));
      if (round % 2 === 1) await node.engine.background.flusher.flush('all');
      // Each write makes some points match no longer; the others get another field.
      const writes = async () => {
        for (let i = 0; i < count; i += 20) {
          const batch = lines('')
            .slice(i, i + 20)
            .map((line, k) => line.replace('  ', k % 2 === 0 ? ' v=2 ' : ' x=3 '));
          await writeLines(node, batch);
          if (i % 60 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        }
      };
      const flushes = async () => {
        await new Promise((resolve) => setTimeout(resolve, round));
        await flushEngine(node.engine);
      };
      await Promise.all([writes(), remove('v = 1'), flushes()]);
      if (round % 4 >= 2) await kill();
      const found = await query(
        node,
        `SELECT v, w, x, count(*) FROM (SELECT * FROM m WHERE time >= ${from}::TIMESTAMP_NS AND time < ${from + count}::TIMESTAMP_NS) GROUP BY v, w, x`.replaceAll(
          /(\d+)::TIMESTAMP_NS/g,
          'to_timestamp_nanos($1)',
        ),
      );
      const counts = new Map(
        found.slice(1).map((row) => {
          const at = row.lastIndexOf(' | ');
          return [row.slice(0, at), Number(row.slice(at + 3))] as const;
        }),
      );
      const of = (key: string): number => counts.get(key) ?? 0;
      // Written before the deletion: the point has both fields. Afterwards: only the new one.
      assert.equal(of('2.0 | 1.0 | NULL') + of('2.0 | NULL | NULL'), count / 2, String(found));
      // The other points matched until the deletion, so none keeps its earlier fields.
      const others = [...counts.keys()].filter((key) => !key.startsWith('2.0'));
      assert.deepEqual(
        others.filter((key) => key !== 'NULL | NULL | 3.0'),
        [],
        String(found),
      );
    }
  });
});

describe('a condition', () => {
  it('may select 10,000 rows, and deletes nothing if it selects more', async () => {
    const lines = Array.from({ length: 10_001 }, (_, i) => `m,t=${i % 7} v=${i % 2},w=1 ${i}`);
    await writeLines(node, lines);
    const error =
      "the condition matches more than 10000 rows of table 'm'; use a shorter time range, or a condition only on tags and time";
    assert.equal(
      await queryInfluxql(node, 'DELETE FROM m WHERE w = 1'),
      `${JSON.stringify({ results: [{ statement_id: 0, error }] })}\n`,
    );
    const count = async () => (await query(node, 'SELECT count(*) FROM m'))[1];
    assert.equal(await count(), '10001');
    await remove('w = 1 AND time < 10000');
    assert.equal(await count(), '1');
    await flushEngine(node.engine);
    await restart();
    assert.equal(await count(), '1');
  });

  it('treats a field that a table does not have as missing', async () => {
    await writeLines(node, [...BASE, 'n,t=a x=1 1']);
    assert.equal(await queryInfluxql(node, 'DELETE FROM m, n WHERE v != 10'), DONE);
    assert.deepEqual(await query(node, 'SELECT x FROM n'), ['x', '1.0']);
    assert.deepEqual(await rows(), ['a,10,1,1', 'b,10,1,1', 'b,NULL,1,3']);
  });

  it('of DROP SERIES, or on a field that no table has, is refused', async () => {
    await writeLines(node, BASE);
    for (const text of [
      'DROP SERIES FROM m WHERE v = 10',
      'DELETE FROM m WHERE nope > 3',
      'DELETE WHERE nope > 3',
    ])
      assert.match(await queryInfluxql(node, text), /fields not supported in WHERE clause/, text);
    assert.equal((await rows()).length, 4);
  });
});
