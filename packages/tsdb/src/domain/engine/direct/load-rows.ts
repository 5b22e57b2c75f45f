import { setImmediate } from 'node:timers/promises';
import { invariant } from '@plinth/kernel';
import type { Column } from '../../../model/column.js';
import type { OutputColumn, ResultChunk } from '../../../model/result.js';
import type { SqlType } from '../../../model/sql-type.js';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import { quoteName } from '../../../storage/duckdb/quote.js';
import type { SeriesIndex } from '../series-index.js';
import { type CachedRows, isDirectKind } from './cached-rows.js';
import { ColumnBuilder, PartBuilder } from './part-builder.js';

/** Rows `[from, to)` of a source that are kept as one. */
export interface RowUnit {
  readonly from: number;
  readonly to: number;
  readonly rows: CachedRows;
}

const INT64: SqlType = { kind: 'int', bits: 64, signed: true };

/** Rows asked for with one statement: their chunks are taken over without a pause. */
const STATEMENT_ROWS = 131_072;

/**
 * Reads columns of a source in the order of its rows and gives every unit what it lacks.
 * @param units ascending, without gaps.
 */
export async function loadRows(options: {
  readonly host: DuckDbHost;
  readonly index: SeriesIndex;
  /** What stands in FROM. */
  readonly from: string;
  /** Its column with the number of the row. */
  readonly rowNumber: string;
  readonly units: readonly RowUnit[];
  /** Only such as the source has. */
  readonly columns: readonly Column[];
}): Promise<void> {
  const { units, columns, index } = options;
  for (const unit of units) {
    const loader = new UnitLoader(unit, columns, index);
    for (let from = unit.from; from < unit.to; from += STATEMENT_ROWS) {
      const chunks = readChunks(options, from, Math.min(unit.to, from + STATEMENT_ROWS));
      for await (const chunk of chunks) loader.take(chunk);
      await setImmediate();
    }
    invariant(loader.isFull, 'a source has as many rows as it says');
    loader.finish();
  }
}

function readChunks(
  options: {
    readonly host: DuckDbHost;
    readonly from: string;
    readonly rowNumber: string;
    readonly columns: readonly Column[];
  },
  from: number,
  to: number,
): AsyncIterable<ResultChunk> {
  const { columns, rowNumber } = options;
  const names = ['_series', '"time"', ...columns.map((column) => quoteName(column.physicalName))];
  const output: OutputColumn[] = [
    { name: '_series', type: INT64, source: undefined },
    { name: 'time', type: { kind: 'timestamp', unit: 'ns', zone: undefined }, source: 'time' },
    ...columns.map((column) => ({ name: column.name, type: INT64, source: column.kind })),
  ];
  return options.host.stream({
    text: `SELECT ${names.join(', ')} FROM ${options.from} WHERE ${rowNumber} >= ${from} AND ${rowNumber} < ${to}`,
    columns: output,
    isSmall: true,
    signal: new AbortController().signal,
  });
}

class UnitLoader {
  readonly #unit: RowUnit;
  readonly #columns: readonly Column[];
  readonly #index: SeriesIndex;
  readonly #part: PartBuilder;
  readonly #builders: readonly ColumnBuilder[];
  readonly #rowCount: number;

  constructor(unit: RowUnit, columns: readonly Column[], index: SeriesIndex) {
    this.#unit = unit;
    this.#columns = columns;
    this.#index = index;
    this.#rowCount = unit.to - unit.from;
    this.#part = new PartBuilder(this.#rowCount);
    this.#builders = columns.map(
      (column) =>
        new ColumnBuilder(isDirectKind(column.kind) ? column.kind : 'float64', this.#rowCount),
    );
  }

  get isFull(): boolean {
    return this.#part.count === this.#rowCount;
  }

  take({ rowCount, columns }: ResultChunk): void {
    const [ids, times, ...fields] = columns;
    invariant(ids !== undefined && times !== undefined, 'both were asked for');
    // BIGINT and TIMESTAMP_NS come as 64-bit integers.
    this.#part.add(
      this.#denseOf(ids.values as BigInt64Array, rowCount),
      (times.values as BigInt64Array).subarray(0, rowCount),
    );
    fields.forEach(({ values, validity }, i) => {
      // Only kinds with a form in memory are loaded, and each comes as its own typed array.
      this.#builders[i]?.add(values as Float64Array, rowCount, validity);
    });
  }

  finish(): void {
    const { rows } = this.#unit;
    const part = rows.part ?? this.#part.finish();
    rows.setPart(part);
    if (part === undefined) return;
    this.#columns.forEach((column, i) => {
      if (!rows.has(column.id)) rows.setColumn(column.id, this.#builders[i]?.finish(part.order));
    });
  }

  #denseOf(ids: BigInt64Array, count: number): Uint32Array {
    const words = new Int32Array(ids.buffer, ids.byteOffset, ids.length * 2);
    const series = new Uint32Array(count);
    let lastLow = 0;
    let lastHigh = 0;
    let dense = -1;
    for (let i = 0; i < count; i++) {
      const low = words[i * 2] as number;
      const high = words[i * 2 + 1] as number;
      if (dense < 0 || low !== lastLow || high !== lastHigh) {
        dense = this.#index.denseOf(low, high);
        lastLow = low;
        lastHigh = high;
      }
      series[i] = dense;
    }
    return series;
  }
}
