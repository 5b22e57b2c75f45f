import assert from 'node:assert/strict';
import { cp, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { PlanContext, PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { OpenTsdb } from '#src/service.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';

/** Plans a scan of a complete table; `text` is its name. The SQL planner has its own tests. */
function readTable(text: string, { database }: PlanContext): PlannedQuery {
  const table = database.tables.get(text);
  assert.ok(table, `table ${text}`);
  const columns = [...table.columns.values()];
  return {
    scans: [
      {
        table,
        columns: columns.map((c) => c.name),
        minTimeNs: MIN_TIME_NS,
        maxTimeNs: MAX_TIME_NS,
        tagConditions: [],
        lastRowsOnly: false,
      },
    ],
    render: (scanText) =>
      `SELECT ${columns.map((c) => (c.kind === 'time' ? 'epoch_ns("time")' : `"${c.physicalName}"`)).join(', ')} FROM ${scanText(0)}`,
    columns: columns.map((c) => ({
      name: c.name,
      type:
        c.kind === 'utf8' || c.kind === 'tag'
          ? { kind: 'utf8' }
          : { kind: 'int', bits: 64, signed: true },
      tableColumnKind: c.kind,
    })),
    tableName: text,
    parameterTypes: new Map(),
    mayMaterialize: false,
  };
}

const openNode = (dataDir: string, flags: Readonly<Record<string, string>> = {}) =>
  openTestNode(dataDir, { flags, planner: readTable });

async function write(node: OpenTsdb, lines: string, acceptPartial = true): Promise<number> {
  const outcome = await node.engine.write({
    database: 'db',
    body: Buffer.from(lines),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 1e7,
    precision: 'nanosecond',
    acceptPartial,
    noSync: false,
    receivedNs: 1n,
  });
  return outcome.writtenCount;
}

/** All rows of a table as strings, sorted, with columns in name order. */
async function rows(node: OpenTsdb, table: string): Promise<string[]> {
  const { chunks } = await node.engine.query({
    database: 'db',
    access: FULL_ACCESS,
    language: 'sql',
    text: table,
    params: new Map(),
    signal: new AbortController().signal,
  });
  const texts: string[] = [];
  for await (const chunk of chunks) {
    for (let row = 0; row < chunk.rowCount; row++) {
      texts.push(
        chunk.columns
          .map(({ values, validity }) =>
            validity !== undefined && ((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0
              ? '-'
              : String(values[row]),
          )
          .join(' '),
      );
    }
  }
  return texts.sort();
}

/** Series count of the index; queries do not show series without rows. */
function seriesCount(node: OpenTsdb, table: string): number {
  const schema = node.catalog.database('db')?.tables.get(table);
  assert.ok(schema, `table ${table}`);
  // The interface omits methods that only the service itself may call.
  return (node.engine as TsdbEngine).tableStore(schema).series.index.count;
}

describe('a time-series node', () => {
  it('has every acknowledged row exactly once after a crash', async () => {
    const dir = await temporaryFolder();
    const node = await openNode(dir);
    await write(node, 'cpu,host=a v=1i 10\ncpu,host=b v=2i 10\ncpu,host=a v=3i 20');
    await write(node, 'cpu,host=a w="late" 10\ncpu,host=c,dc=x v=9i 5');
    const expected = ['- - 3 20', '- - 2 10', '- late 1 10', 'x - 9 5'].length;
    const before = await rows(node, 'cpu');
    assert.equal(before.length, expected);
    const copy = await temporaryFolder();
    await cp(dir, copy, { recursive: true });
    const crashed = await openNode(copy);
    assert.deepEqual(await rows(crashed, 'cpu'), before);
    assert.deepEqual(before, ['- a 10 1 late', '- a 20 3 -', '- b 10 2 -', 'x c 5 9 -']);
    await crashed.close();
    await flushEngine(node.engine);
    await node.close();
    assert.deepEqual(await readdir(join(dir, 'tsdb-log')).then((names) => names.length), 1);
    const again = await openNode(dir);
    assert.deepEqual(await rows(again, 'cpu'), before);
    await write(again, 'cpu,host=a v=4i 10\ncpu,host=d v=5i 1');
    assert.deepEqual(await rows(again, 'cpu'), [
      '- a 10 4 late',
      '- a 20 3 -',
      '- b 10 2 -',
      '- d 1 5 -',
      'x c 5 9 -',
    ]);
    await again.close();
    const last = await openNode(dir);
    assert.deepEqual(await rows(last, 'cpu'), [
      '- a 10 4 late',
      '- a 20 3 -',
      '- b 10 2 -',
      '- d 1 5 -',
      'x c 5 9 -',
    ]);
    await last.close();
  });

  it('returns correct results during a background flush', async () => {
    const dir = await temporaryFolder();
    const node = await openNode(dir, { 'tsdb-buffer-flush-bytes': '65536' });
    let expected = 0;
    for (let batch = 0; batch < 40; batch++) {
      const lines = Array.from(
        { length: 500 },
        (_, i) => `m,host=h${i % 50} v=${batch}i ${batch * 1000 + i}`,
      );
      expected += await write(node, lines.join('\n'));
      assert.equal((await rows(node, 'm')).length, expected);
    }
    await node.close();
    const again = await openNode(dir);
    assert.equal((await rows(again, 'm')).length, expected);
    await again.close();
  });

  it('rebuilds a lost series file from the segments and rejects a damaged segment', async () => {
    const dir = await temporaryFolder();
    const node = await openNode(dir);
    await write(node, 'cpu,host=a v=1i 10\ncpu,host=b v=2i 10');
    await flushEngine(node.engine);
    await node.close();
    const objects = join(dir, 'objects', 'tsdb');
    const files = (await readdir(objects, { recursive: true })).filter((name) =>
      name.endsWith('.parquet'),
    );
    assert.equal(files.length, 2, 'a segment and a series file');
    for (const damaged of files) {
      const copy = await temporaryFolder();
      await cp(dir, copy, { recursive: true });
      const path = join(copy, 'objects', 'tsdb', damaged);
      await truncate(path, 40);
      const crashed = await openNode(copy);
      const result = await rows(crashed, 'cpu').catch((error: unknown) => (error as Error).message);
      if (Array.isArray(result)) assert.deepEqual(result, ['a 10 1', 'b 10 2']);
      else assert.match(result, /is corrupt \(40 bytes instead of/);
      await crashed.close();
    }
  });

  it('logs many new series before their rows, and drops those whose rows were truncated', async () => {
    const dir = await temporaryFolder();
    const node = await openNode(dir);
    const body = (from: number): string =>
      Array.from({ length: 2000 }, (_, i) => `many,host=h${from + i},zone=z v=${i}i 10`).join('\n');
    await write(node, 'many,host=first,zone=z v=1i 10');
    const log = join(dir, 'tsdb-log', (await readdir(join(dir, 'tsdb-log')))[0] ?? '');
    const firstEnd = (await readFile(log)).findLastIndex((byte) => byte !== 0) + 1;
    await write(node, body(0));
    const before = await rows(node, 'many');
    assert.equal(before.length, 2001);
    const whole = await temporaryFolder();
    await cp(dir, whole, { recursive: true });
    const crashed = await openNode(whole);
    assert.deepEqual(await rows(crashed, 'many'), before);
    await write(crashed, body(1000));
    assert.equal((await rows(crashed, 'many')).length, 3001);
    await crashed.close();
    const cut = await temporaryFolder();
    await cp(dir, cut, { recursive: true });
    // The rows of a body follow the definitions of their series, so the file ends in the row
    // record.
    const end = (await readFile(log)).findLastIndex((byte) => byte !== 0) + 1;
    assert.ok(end - firstEnd > 2000 * 20);
    await truncate(join(cut, 'tsdb-log', basename(log)), end - 10);
    const torn = await openNode(cut);
    assert.deepEqual(await rows(torn, 'many'), ['first 10 1 z']);
    assert.equal(seriesCount(torn, 'many'), 1);
    await write(torn, body(0));
    assert.deepEqual(await rows(torn, 'many'), before);
    await torn.close();
    await node.close();
  });

  it('removes the files of an incomplete flush', async () => {
    const dir = await temporaryFolder();
    const node = await openNode(dir);
    await write(node, 'cpu v=1i 10');
    await flushEngine(node.engine);
    await node.close();
    const [table] = await readdir(join(dir, 'objects', 'tsdb'));
    const stray = join(dir, 'objects', 'tsdb', table ?? '', 'stray.parquet');
    await writeFile(stray, 'half a file');
    const again = await openNode(dir);
    assert.ok(
      !(await readdir(join(dir, 'objects', 'tsdb', table ?? ''))).includes('stray.parquet'),
    );
    assert.deepEqual(await rows(again, 'cpu'), ['10 1']);
    await again.close();
  });

  it('writes nothing of an all-or-nothing request with an invalid line', async () => {
    const dir = await temporaryFolder();
    const node = await openNode(dir);
    await write(node, 'cpu v=1i 10');
    assert.equal(await write(node, 'cpu v=2i 20\ncpu v="text" 30', false), 0);
    assert.deepEqual(await rows(node, 'cpu'), ['10 1']);
    assert.equal(await write(node, 'cpu v=2i 20\ncpu v="text",new=1i 30'), 1);
    assert.deepEqual(await rows(node, 'cpu'), ['10 1', '20 2']);
    await node.close();
  });
});
