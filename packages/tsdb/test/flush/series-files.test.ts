// Every flush with new series writes a series file, and all of these are read at startup.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectError } from '@plinth/kernel';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const MOST_SERIES_FILES = 10;

it('has few series files after many flushes, and all series after a restart', async (context) => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const faults = new CallFaults();
  const start = () => openTestNode(dataDir, { clock, faults });
  let node = await start();
  context.after(() => node.close());
  const segmentCount = async (): Promise<number> =>
    Number((await query(node, 'SELECT count(*) FROM system.parquet_files'))[1]);
  const flush = async (): Promise<number> => (await flushNode(node)).length;
  for (let i = 0; i < 60; i++) {
    // New tags appear later: not every file has every column.
    await writeLines(node, [`m,host=h${i}${i % 7 === 0 ? `,extra${i % 3}=x` : ''} v=${i}i ${i}`]);
    // Some merges fail, and succeed later.
    if (i % 5 === 0) faults.fail({ kind: 'duckdb.copy', at: 3 });
    await flush().catch(() => undefined);
    faults.heal();
    if (i === 30) {
      await node.close();
      node = await start();
    }
  }
  await clock.advanceMs(120_000);
  const fileCount = await flush();
  assert.ok(fileCount - (await segmentCount()) <= MOST_SERIES_FILES, `${fileCount} files`);
  await node.close();
  const onDisk = async (): Promise<number> => {
    const names = await readdir(join(dataDir, 'objects', 'tsdb'), { recursive: true });
    return names.filter((name) => name.endsWith('.parquet')).length;
  };
  // Files are removed one by one in the background.
  for (let i = 0; i < 500 && (await onDisk()) > fileCount; i++) await sleep(10);
  assert.equal(await onDisk(), fileCount);
  node = await start();
  const hosts = await query(node, 'SELECT count(DISTINCT host), sum(v) FROM m');
  assert.equal(hosts[1], '60 | 1770');
  // Writes again: a lost series would now receive a new identity.
  await writeLines(
    node,
    Array.from(
      { length: 60 },
      (_, i) => `m,host=h${i}${i % 7 === 0 ? `,extra${i % 3}=x` : ''} v=0i ${i}`,
    ),
  );
  assert.equal((await query(node, 'SELECT count(v), sum(v) FROM m'))[1], '60 | 0');
});

it('registers all series files after a start that did not find one', async (context) => {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const clock = new ManualClock();
  const start = () => openTestNode(dataDir, { clock, faults });
  let node = await start();
  context.after(() => node.close());
  const onDisk = async (): Promise<readonly string[]> => {
    const names = await readdir(join(dataDir, 'objects', 'tsdb'), { recursive: true });
    return names.filter((name) => name.endsWith('.parquet')).map((name) => `tsdb/${name}`);
  };
  const known = async (): Promise<readonly string[]> => (await flushNode(node)).toSorted();
  await writeLines(node, ['m,host=a v=1i 1', 'm,host=b v=2i 2']);
  await flushNode(node);
  await node.close();
  const error = objectError('object_not_found', 'a series file');
  faults.fail({ kind: 'object.get', error }); // the series files are read first at startup
  node = await start();
  assert.deepEqual(await known(), (await onDisk()).toSorted());
  // Once without any series file, and then with a new one.
  await node.close();
  node = await start();
  assert.equal((await known()).length, 1);
  await writeLines(node, ['m,host=b v=3i 2', 'm,host=c v=4i 4']);
  assert.equal((await known()).length, 3);
  await node.close();
  faults.fail({ kind: 'object.get', at: 2, count: Number.POSITIVE_INFINITY });
  node = await start(); // no segment is read for the series
  faults.heal();
  assert.deepEqual(await known(), (await onDisk()).toSorted());
  const hosts = await query(node, 'SELECT host, v FROM m ORDER BY host');
  assert.deepEqual(hosts.slice(1), ['a | 1', 'b | 3', 'c | 4']);
});
