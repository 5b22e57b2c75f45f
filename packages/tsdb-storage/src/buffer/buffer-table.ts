import type { DuckDBConnection } from '@duckdb/node-api';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { MAX_INT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import type { DuckDbHost } from '../duckdb/duckdb-host.js';
import { DUCKDB_TYPE } from '../duckdb/duckdb-type.js';
import { RebuildableTable } from '../duckdb/rebuildable-table.js';
import { firstRowsBytes } from '../duckdb/table-memory.js';
import { RecentBlocks } from './recent-blocks.js';
import { RowBlock } from './row-block.js';

/**
 * Number of rows in a table's first block. Later blocks are larger, so that many small tables use
 * little memory.
 */
const FIRST_BLOCK_ROWS = 64;
/**
 * A block is one DuckDB transaction. Blocks of 8,192 rows cost a fifth more per row; larger blocks
 * save nothing.
 */
const LARGEST_BLOCK_ROWS = 16384;
/**
 * Moving a block stops the event loop for about 20 ns per cell, so blocks of wide tables have
 * fewer rows.
 */
const LARGEST_BLOCK_CELLS = 262144;
/** Number of waiting rows that starts a move without a query. */
const MIN_ROWS_TO_MOVE = 16384;

/** Bytes per value, or missing value, in DuckDB. */
const VALUE_BYTES: Readonly<Record<Column['kind'], number>> = {
  float64: 8,
  int64: 8,
  uint64: 8,
  bool: 1,
  utf8: 16,
  tag: 0,
  time: 0,
};

const NONE: readonly number[] = [];

/**
 * An append-only table of the buffer. Rows wait in blocks in JavaScript memory. They are moved to
 * an in-memory DuckDB table in the background, or at the latest when a query needs them.
 */
export class BufferTable {
  /** Rebuilt from its committed rows before the next append if an append failed. */
  readonly #table: RebuildableTable;
  /** Number of all rows, moved or waiting. */
  rowCount = 0;
  minTime = MAX_INT64;
  maxTime = MIN_INT64;
  readonly #duckDb: DuckDbHost;
  readonly #seriesIdWords: () => Int32Array;
  readonly #waiting: RowBlock[] = [];
  #waitingRows = 0;
  /** Fields that occur in at least one row. */
  readonly #fieldIds = new Set<number>();
  #rowBytes = 0;
  /** Blocks that are being moved. */
  #moving: readonly RowBlock[] = [];
  #duckDbRows = 0;
  /** Columns of the DuckDB table after `_series, _seq, time`; undefined until the table exists. */
  #columns: Column[] | undefined;
  #duckDbBytes = 0;
  readonly #recent: RecentBlocks;
  #isMovingFullBlocks = false;
  /** Number of running moves. */
  #moveCount = 0;

  constructor(options: {
    readonly name: string;
    readonly duckDb: DuckDbHost;
    /** Returns the ids of the table's series at the time of the call. */
    readonly seriesIdWords: () => Int32Array;
  }) {
    this.#table = new RebuildableTable(options.name);
    this.#duckDb = options.duckDb;
    this.#seriesIdWords = options.seriesIdWords;
    this.#recent = new RecentBlocks(options.duckDb.blockMemory);
  }

  get name(): string {
    return this.#table.name;
  }

  /** Returns whether the DuckDB table has the column. If not, all its rows read NULL. */
  hasColumn(id: number): boolean {
    return this.#columns?.some((column) => column.id === id) ?? false;
  }

  /** Number of rows in the DuckDB table, which are the first rows of this table. */
  get duckDbRows(): number {
    return this.#duckDbRows;
  }

  /**
   * Returns the latest rows in write order: all that are not in the DuckDB table, and recently
   * moved ones as long as queries use them. The last block may grow. The caller may keep the
   * blocks.
   */
  recentRows(): { readonly blocks: readonly RowBlock[]; readonly blocksFrom: number } {
    this.#recent.noteQuery(this.rowCount);
    const blocks = [...this.#recent.blocks, ...this.#moving, ...this.#waiting];
    for (const block of blocks) block.mayBeRead = true;
    return { blocks, blocksFrom: this.#duckDbRows - this.#recent.rowCount };
  }

  /** Memory that DuckDB uses for the table and cannot spill. */
  get duckDbBytes(): number {
    return this.#duckDbBytes;
  }

  /**
   * Bytes of all rows in DuckDB, including missing values, because it allocates complete columns.
   */
  get cellBytes(): number {
    return this.rowCount * this.#rowBytes;
  }

  get columns(): readonly Column[] {
    return this.#columns ?? [];
  }

  append(batch: RowBatch, seq: bigint): void {
    this.appendAllBut(NONE, batch, seq);
  }

  /**
   * Appends the batch without `excludedRows` (ascending). Copying the other rows first would
   * create garbage.
   */
  appendAllBut(excludedRows: readonly number[], batch: RowBatch, seq: bigint): void {
    let from = 0;
    for (const row of excludedRows) {
      this.#appendRows(batch, from, row, seq);
      from = row + 1;
    }
    this.#appendRows(batch, from, batch.rowCount, seq);
    if (this.#waitingRows >= MIN_ROWS_TO_MOVE && !this.#isMovingFullBlocks) {
      this.#isMovingFullBlocks = true;
      // After a failure the rows stay in memory. The next query or flush retries and reports the
      // error.
      this.#moveToDuckDb('full_blocks')
        .catch(() => undefined)
        .finally(() => (this.#isMovingFullBlocks = false));
    }
  }

  #appendRows(batch: RowBatch, from: number, to: number, seq: bigint): void {
    if (from === to) return;
    for (let at = from; at < to; ) {
      const block = this.#openBlock(to - at, batch.fields);
      const end = Math.min(to, at + block.free);
      const fieldsBefore = block.fields.size;
      block.append(batch, at, end, seq);
      if (block.fields.size > fieldsBefore) this.#noteFields(block);
      at = end;
    }
    this.rowCount += to - from;
    this.#waitingRows += to - from;
    this.#noteTimes(batch.times, from, to);
  }

  #noteFields(block: RowBlock): void {
    for (const { column } of block.fields.values()) {
      if (this.#fieldIds.has(column.id)) continue;
      this.#fieldIds.add(column.id);
      this.#rowBytes += VALUE_BYTES[column.kind];
    }
  }

  /** Resolves when every row appended before the call is in the DuckDB table. */
  async moveToDuckDb(): Promise<void> {
    await this.#moveToDuckDb('all');
  }

  /**
   * Background moves skip partial blocks, because their transactions cost nearly as much as transactions with full blocks.
   */
  async #moveToDuckDb(scope: 'all' | 'full_blocks'): Promise<void> {
    // If another move is between two blocks, no rows are waiting, but its rows are not in DuckDB
    // yet. Queue behind it.
    const isDone = this.#waitingRows === 0 && this.#columns !== undefined;
    if (isDone && this.#moveCount === 0) return;
    this.#moveCount++;
    try {
      await this.#moveWaiting(scope);
    } finally {
      this.#moveCount--;
    }
  }

  async #moveWaiting(scope: 'all' | 'full_blocks'): Promise<void> {
    await this.#duckDb.withWriter(async (connection) => {
      const { appendBlock } = await import('./append-block.js'); // The appender is native code that is loaded after DuckDB.
      const isLastLeft = scope === 'full_blocks' && (this.#waiting.at(-1)?.free ?? 0) > 0;
      const blocks = this.#waiting.splice(0, this.#waiting.length - (isLastLeft ? 1 : 0));
      this.#moving = blocks;
      for (const block of blocks) this.#waitingRows -= block.count;
      try {
        await this.#ensureColumns(connection, blocks);
        while (blocks.length > 0) {
          const block = blocks[0] as RowBlock;
          await this.#duckDb.yielder.next();
          const append = (): void =>
            appendBlock({
              connection,
              table: this.name,
              columns: this.#columns ?? [],
              block,
              seriesIdWords: this.#seriesIdWords(),
              memory: this.#duckDb.blockMemory,
            });
          await this.#table.change(connection, this.#duckDbRows, append);
          blocks.shift();
          this.#duckDbRows += block.count;
          this.#recent.add(block, this.#duckDbRows);
        }
      } catch (error) {
        this.#waiting.unshift(...blocks);
        for (const block of blocks) this.#waitingRows += block.count;
        throw error;
      } finally {
        this.#moving = [];
      }
    });
  }

  async drop(): Promise<void> {
    this.#recent.clear();
    // A running move would create the table after the drop.
    if (this.#columns === undefined && this.#moveCount === 0) return;
    await this.#duckDb.withWriter(async (connection) => {
      this.#columns = undefined;
      this.#account();
      await connection.run(`DROP TABLE IF EXISTS ${quoteName(this.name)}`);
    });
  }

  #openBlock(rowsToAdd: number, fields: RowBatch['fields']): RowBlock {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.free > 0 && hasRoomFor(last, fields)) return last;
    const fieldCount = Math.max(fields.length, this.#fieldIds.size);
    const largest = Math.min(LARGEST_BLOCK_ROWS, LARGEST_BLOCK_CELLS / (fieldCount + 1));
    const target = Math.min(Math.max(rowsToAdd, this.rowCount), largest);
    let capacity = FIRST_BLOCK_ROWS;
    while (capacity * 2 <= target) capacity *= 2;
    const block = new RowBlock(capacity, this.#duckDb.blockMemory);
    this.#waiting.push(block);
    return block;
  }

  async #ensureColumns(connection: DuckDBConnection, blocks: readonly RowBlock[]): Promise<void> {
    try {
      await this.#addColumns(connection, blocks);
    } finally {
      this.#account();
    }
  }

  /** Updates the accounted memory of the table. */
  #account(): void {
    const before = this.#duckDbBytes;
    this.#duckDbBytes = this.#columns === undefined ? 0 : sizeOf(this.#columns);
    this.#duckDb.tableMemory.unflushedBytes += this.#duckDbBytes - before;
  }

  async #addColumns(connection: DuckDBConnection, blocks: readonly RowBlock[]): Promise<void> {
    const columnsById = new Map<number, Column>();
    for (const block of blocks) {
      for (const field of block.fields.values()) columnsById.set(field.column.id, field.column);
    }
    if (this.#columns === undefined) {
      const columns = [...columnsById.values()];
      const definitions = columns.map(
        (column) => `, ${quoteName(column.physicalName)} ${DUCKDB_TYPE[column.kind]}`,
      );
      await connection.run(
        `CREATE TABLE ${quoteName(this.name)} (_series BIGINT, _seq BIGINT, "time" TIMESTAMP_NS${definitions.join('')})`,
      );
      this.#columns = columns;
      this.#table.reset();
      return;
    }
    for (const column of columnsById.values()) {
      if (this.hasColumn(column.id)) continue;
      const add = `ALTER TABLE ${quoteName(this.name)} ADD COLUMN IF NOT EXISTS ${quoteName(column.physicalName)} ${DUCKDB_TYPE[column.kind]}`;
      await this.#table.change(connection, this.#duckDbRows, async () => {
        await connection.run(add);
      });
      this.#columns.push(column);
    }
  }

  /**
   * Compares timestamps as pairs of words, low word first, because each bigint would be an object.
   */
  #noteTimes(times: BigInt64Array, from: number, to: number): void {
    const words = new Int32Array(times.buffer, times.byteOffset, to * 2);
    let first = from;
    let last = from;
    for (let row = from + 1; row < to; row++) {
      if (isBefore(words, row, first)) first = row;
      else if (isBefore(words, last, row)) last = row;
    }
    const min = times[first] as bigint;
    const max = times[last] as bigint;
    if (min < this.minTime) this.minTime = min;
    if (max > this.maxTime) this.maxTime = max;
  }
}

/** Each new field of a block allocates memory for all rows of the block. */
function hasRoomFor(block: RowBlock, fields: RowBatch['fields']): boolean {
  const mayHave = block.fields.size + fields.length;
  if (mayHave * block.capacity <= LARGEST_BLOCK_CELLS) return true;
  const added = fields.filter(({ column }) => !block.fields.has(column.id)).length;
  return added === 0 || (block.fields.size + added) * block.capacity <= LARGEST_BLOCK_CELLS;
}

/** Returns the memory of a table with `_series, _seq, time` and these columns. */
function sizeOf(columns: readonly Column[]): number {
  const textCount = columns.filter(({ kind }) => kind === 'utf8').length;
  return firstRowsBytes(3 + columns.length - textCount, textCount);
}

function isBefore(words: Int32Array, row: number, other: number): boolean {
  const high = words[row * 2 + 1] as number;
  const otherHigh = words[other * 2 + 1] as number;
  if (high !== otherHigh) return high < otherHigh;
  return (words[row * 2] as number) >>> 0 < (words[other * 2] as number) >>> 0;
}
