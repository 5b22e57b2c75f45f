import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CallFaults, temporaryFolder } from '@plinth/kernel/testing';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { DuckDbHost } from '../duckdb/duckdb-host.js';
import { BufferTable } from './buffer-table.js';

/** The rows fill several blocks, so that the event loop runs between them. */
const ROW_COUNT = 60_000;

describe('BufferTable', () => {
  let folder: string;
  let duckDb: DuckDbHost;
  const faults = new CallFaults();
  before(async () => {
    folder = await temporaryFolder();
    duckDb = new DuckDbHost({
      dataDir: folder,
      spillDir: join(folder, 'spill'),
      memoryLimitBytes: 256 * 1048576,
      threads: 2,
      idleConnections: 2,
      register: async () => {},
      watch: faults,
    });
  });
  after(() => duckDb.close());

  const countOf = async (table: BufferTable): Promise<readonly unknown[]> =>
    (await duckDb.rows(`SELECT count(*), count(v), sum(v)::BIGINT FROM "${table.name}"`))[0] ?? [];
  const SUM = (BigInt(ROW_COUNT) * BigInt(ROW_COUNT - 1)) / 2n;
  const ALL = [BigInt(ROW_COUNT), BigInt(ROW_COUNT), SUM];

  it('leaves neither a table nor accounted memory when it is dropped during a move to DuckDB', async () => {
    const table = newTable('dropped', duckDb);
    const { unflushedBytes } = duckDb.tableMemory;
    table.append(batch(), 1n);
    await Promise.all([table.moveToDuckDb(), table.drop()]);
    assert.equal(duckDb.tableMemory.unflushedBytes, unflushedBytes);
    const left = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'dropped'";
    assert.deepEqual(await duckDb.rows(left), [[0n]]);
  });

  it('has moved every earlier row when a second move meets a running one', async () => {
    let hasMet = false;
    // On a busy machine the first move may end before the check, so try several times.
    for (let attempt = 0; attempt < 20 && !hasMet; attempt++) {
      const table = newTable(`second_${attempt}`, duckDb);
      table.append(batch(), 1n);
      let isFirstDone = false;
      const first = table.moveToDuckDb().then(() => (isFirstDone = true));
      // Wait until the first move is between two blocks: no rows are waiting, but some are not in
      // DuckDB.
      for (let round = 0; round < 1000 && !(await isBegun(table)); round++) await setImmediate();
      hasMet = !isFirstDone;
      await table.moveToDuckDb();
      assert.deepEqual(await countOf(table), ALL);
      await first;
    }
    assert.ok(hasMet, 'the second met the first under way');
  });

  it('has moved every earlier row when a background move has started', async () => {
    const table = newTable('background', duckDb);
    table.append(batch(), 1n);
    for (let round = 0; round < 1000 && !(await isBegun(table)); round++) await setImmediate();
    await table.moveToDuckDb();
    assert.deepEqual(await countOf(table), ALL);
  });

  it('has every row once after failed moves, when their appenders are collected', async () => {
    // Failures occur while appending a chunk and while committing, in the first block and in a
    // later one.
    for (const [kind, at] of [
      ['duckdb.append', 2],
      ['duckdb.append', 20],
      ['duckdb.flush', 1],
      ['duckdb.flush', 2],
    ] as const) {
      const table = newTable(`failed_${kind}_${at}`, duckDb);
      faults.fail({ kind, at });
      table.append(batch(), 1n);
      // Either the background move or this one fails.
      await table.moveToDuckDb().catch(() => undefined);
      await collectGarbage();
      await table.moveToDuckDb();
      assert.deepEqual(await countOf(table), ALL, `${kind} ${at}`);
    }
  });

  it('releases the memory of blocks to later ones, but not while it may be read', async () => {
    const first = newTable('memory_first', duckDb);
    first.append(batch(), 1n);
    const lent = first.recentRows().blocks.map(({ times }) => times);
    const before = lent.map((times) => times.slice());
    await first.moveToDuckDb();
    const second = newTable('memory_second', duckDb);
    second.append(batch(), 2n);
    await second.moveToDuckDb();
    const gaps = newTable('memory_gaps', duckDb);
    gaps.append(withGaps(batch()), 3n);
    await gaps.moveToDuckDb();
    assert.deepEqual(await countOf(second), ALL);
    const [[rows, values]] = (await duckDb.rows(
      `SELECT count(*), count(v) FROM "${gaps.name}"`,
    )) as [[bigint, bigint]];
    assert.deepEqual([rows, values], [BigInt(ROW_COUNT), BigInt(Math.ceil(ROW_COUNT / 2))]);
    assert.deepEqual(lent, before);
  });

  it('does not copy values of earlier rows into rows without a value', async () => {
    const long = newTable('texts_long', duckDb);
    long.append(
      textBatch((row) => `a text that is not short ${row}`),
      1n,
    );
    await long.moveToDuckDb();
    const short = newTable('texts_short', duckDb);
    short.append(withGaps(textBatch((row) => `t${row}`)), 2n);
    await short.moveToDuckDb();
    const rows = await duckDb.rows(
      `SELECT count(*), count(v), count(*) FILTER (v = 't' || (rowid)) FROM "${short.name}"`,
    );
    const half = BigInt(TEXT_ROW_COUNT / 2);
    assert.deepEqual(rows[0], [BigInt(TEXT_ROW_COUNT), half, half]);
    const again = newTable('texts_again', duckDb);
    again.append(
      textBatch((row) => `${row} is not short either, and has no gap`),
      3n,
    );
    await again.moveToDuckDb();
    const whole = await duckDb.rows(
      `SELECT count(*) FROM "${again.name}" WHERE v = rowid || ' is not short either, and has no gap'`,
    );
    assert.deepEqual(whole[0], [BigInt(TEXT_ROW_COUNT)]);
  });

  /** Whether rows of the table are visible to other connections. */
  async function isBegun(table: BufferTable): Promise<boolean> {
    const rows = await duckDb
      .rows(`SELECT count(*) FROM "${table.name}"`)
      .catch((error: unknown) => {
        assert.match(String(error), /does not exist/);
        return [[0n]];
      });
    return rows[0]?.[0] !== 0n;
  }
});

function newTable(name: string, duckDb: DuckDbHost): BufferTable {
  return new BufferTable({ name, duckDb, seriesIdWords: () => new Int32Array([7, 0]) });
}

/** Removes the field from every second row. */
function withGaps(rows: RowBatch): RowBatch {
  const validity = new Uint8Array((rows.rowCount + 7) >> 3).fill(0b01010101);
  return { ...rows, fields: rows.fields.map((field) => ({ ...field, validity })) };
}

/** The rows fill several DuckDB chunks, the last one only partially. */
const TEXT_ROW_COUNT = 5_000;

function textBatch(textOf: (row: number) => string): RowBatch {
  const texts = Array.from({ length: TEXT_ROW_COUNT }, (_, row) => Buffer.from(textOf(row)));
  const offsets = new Uint32Array(TEXT_ROW_COUNT + 1);
  texts.forEach((text, row) => {
    offsets[row + 1] = (offsets[row] as number) + text.length;
  });
  return {
    rowCount: TEXT_ROW_COUNT,
    seriesOrdinals: new Uint32Array(TEXT_ROW_COUNT),
    times: new BigInt64Array(TEXT_ROW_COUNT),
    fields: [
      {
        column: { id: 1, name: 'v', kind: 'utf8', physicalName: 'v' },
        data: { type: 'utf8', offsets, bytes: Buffer.concat(texts) },
        validity: undefined,
      },
    ],
  };
}

/** Returns rows of one series. The value of row i is i. */
function batch(): RowBatch {
  const numbers = Array.from({ length: ROW_COUNT }, (_, i) => i);
  return {
    rowCount: ROW_COUNT,
    seriesOrdinals: new Uint32Array(ROW_COUNT),
    times: BigInt64Array.from(numbers, BigInt),
    fields: [
      {
        column: { id: 1, name: 'v', kind: 'float64', physicalName: 'v' },
        data: { type: 'float64', values: Float64Array.from(numbers) },
        validity: undefined,
      },
    ],
  };
}

/** Finalizers of native handles run in a separate event-loop tick after a collection. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // the flag defines `gc` in new contexts
  for (let round = 0; round < 4; round++) {
    collect();
    await setImmediate();
    await setImmediate();
  }
}
