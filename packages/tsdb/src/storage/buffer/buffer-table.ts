import type { DuckDBConnection } from '@duckdb/node-api';
import type { Column } from '../../model/columns/column.js';
import type { RowBatch } from '../../model/columns/row-batch.js';
import { ENGINE_TYPE } from '../duckdb/column-type.js';
import type { DuckDbHost } from '../duckdb/duckdb-host.js';
import { GrowingTable } from '../duckdb/growing-table.js';
import { quoteName } from '../duckdb/quote.js';
import { firstRowsBytes } from '../duckdb/table-memory.js';
import { RecentBlocks } from './recent-blocks.js';
import { RowBlock } from './row-block.js';

/** Rows a table's first block holds; later ones are larger, so that many small tables stay small. */
const FIRST_BLOCK_ROWS = 64;
/** A block is a transaction of the engine: a row costs a fifth more in blocks of 8,192 rows, and no less in larger ones. */
const LARGEST_BLOCK_ROWS = 16384;
/** Handing a block over holds the event loop, some 20 ns a cell: wide tables get blocks of fewer rows. */
const LARGEST_BLOCK_CELLS = 262144;
/** Waiting rows from which on they are handed to the engine without a query asking for it. */
const HAND_OVER_ROWS = 16384;

/** What the engine holds for a value, or for its lack. */
const CELL_BYTES: Readonly<Record<Column['kind'], number>> = {
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
 * An append-only table of the buffer: rows wait in blocks on the JavaScript side and move to an in-memory table of the
 * engine in the background, or at the latest when a query asks for them.
 */
export class BufferTable {
  readonly #table: GrowingTable;
  /** All rows written, handed over or waiting. */
  rowCount = 0;
  minTime = 2n ** 63n - 1n;
  maxTime = -(2n ** 63n);
  readonly #host: DuckDbHost;
  readonly #idWords: () => Int32Array;
  readonly #waiting: RowBlock[] = [];
  #waitingRows = 0;
  /** Fields that a row of the table has. */
  readonly #fieldIds = new Set<number>();
  #rowBytes = 0;
  /** Blocks on their way to the engine. */
  #moving: readonly RowBlock[] = [];
  #engineRows = 0;
  /** Columns of the engine table after `_series, _seq, time`; undefined until it exists. */
  #columns: Column[] | undefined;
  #engineBytes = 0;
  readonly #recent: RecentBlocks;
  #isHandingOver = false;
  /** Calls of `handOver` that have not ended. */
  #flushCount = 0;

  constructor(options: {
    readonly name: string;
    readonly host: DuckDbHost;
    /** Ids of the table's series at the time of the call. */
    readonly idWords: () => Int32Array;
  }) {
    this.#table = new GrowingTable(options.name);
    this.#host = options.host;
    this.#idWords = options.idWords;
    this.#recent = new RecentBlocks(options.host.blockMemory);
  }

  get name(): string {
    return this.#table.name;
  }

  /** True when the engine's table has the column: otherwise every row of it reads NULL. */
  hasColumn(id: number): boolean {
    return this.#columns?.some((column) => column.id === id) ?? false;
  }

  /** Rows in the engine's table, the first of all rows. */
  get engineRows(): number {
    return this.#engineRows;
  }

  /**
   * The last rows as they were written, in their order: all that are not in the engine's table, and of the others some, as
   * long as somebody asks for them. Those of the last block grow. The caller may keep them.
   */
  recentRows(): { readonly blocks: readonly RowBlock[]; readonly blocksFrom: number } {
    this.#recent.noteAsked(this.rowCount);
    const blocks = [...this.#recent.blocks, ...this.#moving, ...this.#waiting];
    for (const block of blocks) block.isLent = true;
    return { blocks, blocksFrom: this.#engineRows - this.#recent.rowCount };
  }

  /** What the engine holds for the table and does not spill. */
  get engineBytes(): number {
    return this.#engineBytes;
  }

  /** What all rows take in the engine, those without a value too: it has whole columns. */
  get cellBytes(): number {
    return this.rowCount * this.#rowBytes;
  }

  get columns(): readonly Column[] {
    return this.#columns ?? [];
  }

  append(batch: RowBatch, seq: bigint): void {
    this.appendAllBut(NONE, batch, seq);
  }

  /** Without the rows `left` (ascending). Copying the others out of the batch first would be memory to collect. */
  appendAllBut(left: readonly number[], batch: RowBatch, seq: bigint): void {
    let from = 0;
    for (const row of left) {
      this.#appendRows(batch, from, row, seq);
      from = row + 1;
    }
    this.#appendRows(batch, from, batch.rowCount, seq);
    if (this.#waitingRows >= HAND_OVER_ROWS && !this.#isHandingOver) {
      this.#isHandingOver = true;
      // A failure leaves the rows waiting: the next query or flush tries again and reports it.
      this.#flushToDuckDb('full_blocks')
        .catch(() => undefined)
        .finally(() => (this.#isHandingOver = false));
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
      this.#rowBytes += CELL_BYTES[column.kind];
    }
  }

  /** Resolves when every row appended before the call is in the engine's table. */
  async flushToDuckDb(): Promise<void> {
    await this.#flushToDuckDb('all');
  }

  /** Blocks that are not full are transactions that cost nearly as much as full ones. */
  async #flushToDuckDb(what: 'all' | 'full_blocks'): Promise<void> {
    // Nothing waits while another call is between two blocks, but its rows are not there yet: queue behind it.
    const isDone = this.#waitingRows === 0 && this.#columns !== undefined;
    if (isDone && this.#flushCount === 0) return;
    this.#flushCount++;
    try {
      await this.#moveWaiting(what);
    } finally {
      this.#flushCount--;
    }
  }

  async #moveWaiting(what: 'all' | 'full_blocks'): Promise<void> {
    await this.#host.withWriter(async (connection) => {
      const { appendBlock } = await import('./append-block.js'); // Native code, read when the engine is open.
      const isLastLeft = what === 'full_blocks' && (this.#waiting.at(-1)?.free ?? 0) > 0;
      const blocks = this.#waiting.splice(0, this.#waiting.length - (isLastLeft ? 1 : 0));
      this.#moving = blocks;
      for (const block of blocks) this.#waitingRows -= block.count;
      try {
        await this.#ensureColumns(connection, blocks);
        while (blocks.length > 0) {
          const block = blocks[0] as RowBlock;
          await this.#host.turns.next();
          const append = (): void =>
            appendBlock({
              connection,
              table: this.name,
              columns: this.#columns ?? [],
              block,
              idWords: this.#idWords(),
              memory: this.#host.blockMemory,
              chunks: this.#host.chunkMemory,
            });
          await this.#table.change(connection, this.#engineRows, append);
          blocks.shift();
          this.#engineRows += block.count;
          this.#recent.add(block, this.#engineRows);
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
    this.#recent.forget();
    // A hand-over that is under way would make the table behind its end.
    if (this.#columns === undefined && this.#flushCount === 0) return;
    await this.#host.withWriter(async (connection) => {
      this.#columns = undefined;
      this.#account();
      await connection.run(`DROP TABLE IF EXISTS ${quoteName(this.name)}`);
    });
  }

  #openBlock(wanted: number, fields: RowBatch['fields']): RowBlock {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.free > 0 && hasRoomFor(last, fields)) return last;
    const fieldCount = Math.max(fields.length, this.#fieldIds.size);
    const largest = Math.min(LARGEST_BLOCK_ROWS, LARGEST_BLOCK_CELLS / (fieldCount + 1));
    const target = Math.min(Math.max(wanted, this.rowCount), largest);
    let capacity = FIRST_BLOCK_ROWS;
    while (capacity * 2 <= target) capacity *= 2;
    const block = new RowBlock(capacity, this.#host.blockMemory);
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

  /** Has what it holds counted, and no longer what it held at the last call. */
  #account(): void {
    const before = this.#engineBytes;
    this.#engineBytes = this.#columns === undefined ? 0 : sizeOf(this.#columns);
    this.#host.tableMemory.waitingBytes += this.#engineBytes - before;
  }

  async #addColumns(connection: DuckDBConnection, blocks: readonly RowBlock[]): Promise<void> {
    const wanted = new Map<number, Column>();
    for (const block of blocks) {
      for (const field of block.fields.values()) wanted.set(field.column.id, field.column);
    }
    if (this.#columns === undefined) {
      const columns = [...wanted.values()];
      const definitions = columns.map(
        (column) => `, ${quoteName(column.physicalName)} ${ENGINE_TYPE[column.kind]}`,
      );
      await connection.run(
        `CREATE TABLE ${quoteName(this.name)} (_series BIGINT, _seq BIGINT, "time" TIMESTAMP_NS${definitions.join('')})`,
      );
      this.#columns = columns;
      this.#table.reset();
      return;
    }
    for (const column of wanted.values()) {
      if (this.hasColumn(column.id)) continue;
      const add = `ALTER TABLE ${quoteName(this.name)} ADD COLUMN IF NOT EXISTS ${quoteName(column.physicalName)} ${ENGINE_TYPE[column.kind]}`;
      await this.#table.change(connection, this.#engineRows, async () => {
        await connection.run(add);
      });
      this.#columns.push(column);
    }
  }

  /** Compares times as pairs of words, low one first: as bigints each of them would be an object. */
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

/** Each field that a block has not had takes memory for all of its rows. */
function hasRoomFor(block: RowBlock, fields: RowBatch['fields']): boolean {
  const mayHave = block.fields.size + fields.length;
  if (mayHave * block.capacity <= LARGEST_BLOCK_CELLS) return true;
  const added = fields.filter(({ column }) => !block.fields.has(column.id)).length;
  return added === 0 || (block.fields.size + added) * block.capacity <= LARGEST_BLOCK_CELLS;
}

/** Of a table with `_series, _seq, time` and these. */
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
