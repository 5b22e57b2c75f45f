import assert from 'node:assert/strict';
import { copyFile, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { OpenTsdb } from '#src/service.js';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

let dataDir = '';
beforeEach(async () => {
  dataDir = await temporaryFolder();
});

const objects = (name: string): string => join(dataDir, 'objects', name);
const filesBelow = async (name: string): Promise<readonly string[]> =>
  (await readdir(objects(name), { recursive: true }).catch(() => []))
    .filter((each) => each.endsWith('.parquet'))
    .sort();
const total = async (node: OpenTsdb): Promise<string | undefined> =>
  (await query(node, 'SELECT count(*) AS n, sum(v) AS s FROM t'))[1];

/** Opens, works and closes. */
async function visit<T>(
  work: (node: OpenTsdb) => Promise<T>,
  flags: Readonly<Record<string, string>> = {},
): Promise<T> {
  const node = await openTestNode(dataDir, { flags });
  try {
    return await work(node);
  } finally {
    await node.close();
  }
}

const REPAIR = { 'tsdb-repair': 'true' };

const fill = (v: number) =>
  visit(async (node) => {
    await node.catalog.ensureDatabase(TEST_DATABASE);
    await writeLines(node, [`t,host=h${v} v=${v}i ${v}`]);
    await flushNode(node);
  });

describe('A start with files that the catalog does not know', () => {
  it('keeps those that are newer than plinth.db, and has their rows again when it is put back', async () => {
    await fill(1);
    await copyFile(join(dataDir, 'plinth.db'), join(dataDir, 'older'));
    await fill(2);
    await rename(join(dataDir, 'plinth.db'), join(dataDir, 'newer'));
    await rename(join(dataDir, 'older'), join(dataDir, 'plinth.db'));
    const before = await filesBelow('tsdb');
    await assert.rejects(visit(total), /it was written after plinth\.db, which is an older copy/);
    assert.deepEqual(await filesBelow('tsdb'), before, 'a refused start changes nothing');
    assert.equal(await visit(total, REPAIR), '1 | 1');
    const aside = await filesBelow('tsdb-unknown');
    assert.ok(aside.length > 0);
    assert.deepEqual([...aside, ...(await filesBelow('tsdb'))].sort(), before);

    for (const name of aside)
      await rename(objects(`tsdb-unknown/${name}`), objects(`tsdb/${name}`));
    await rename(join(dataDir, 'newer'), join(dataDir, 'plinth.db'));
    // The start before has written to the log.
    assert.equal(await visit(total, REPAIR), '2 | 3');
  });

  it('keeps them when others are missing: they may be what those were merged into', async () => {
    await fill(1);
    const [first] = await filesBelow('tsdb');
    assert.ok(first !== undefined);
    const table = dirname(first);
    await writeFile(objects(`tsdb/${table}/merged.parquet`), 'rows');
    await rename(objects(`tsdb/${first}`), objects(`tsdb/${table}/elsewhere.parquet`));
    await visit(async () => undefined).catch(() => undefined); // It may refuse to start.
    assert.deepEqual(await filesBelow('tsdb-unknown'), [
      `${table}/elsewhere.parquet`,
      `${table}/merged.parquet`,
    ]);
  });

  it('removes those of a flush that was cut: the log has their rows', async () => {
    await fill(1);
    const known = await filesBelow('tsdb');
    const cut = `tsdb/${dirname(known[0] ?? '')}/cut.parquet`;
    for (let i = 0; i < 3; i++) {
      await writeFile(objects(cut), 'half a file');
      assert.equal(await visit(total), '1 | 1');
      assert.deepEqual(await filesBelow('tsdb'), known);
      assert.deepEqual(await filesBelow('tsdb-unknown'), []);
    }
  });
});
