import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { Source } from '../scan/sources.js';
import type { SeriesIndex } from '../series/series-index.js';
import { GenerationTable } from './generation-table.js';

/**
 * The state of a generation for one query. Late rows that are checked afterwards belong to a later set of
 * repeated points (`RepeatedKeys`).
 */
export interface GenerationSnapshot {
  readonly table: GenerationTable;
  readonly checkedLateRows: number;
}

interface GenerationsDeps {
  readonly tableId: number;
  readonly duckDb: DuckDbHost;
  readonly index: SeriesIndex;
  readonly onDisposeFailed: (error: unknown) => void;
}

/** The rows of one table that are not in segments yet. */
export class Generations {
  /** Oldest first; the last generation receives the writes. Replaced on change. */
  list: readonly GenerationTable[] = [];
  readonly #options: GenerationsDeps;

  constructor(options: GenerationsDeps) {
    this.#options = options;
  }

  /** @returns the growth in bytes. */
  append(generation: number, batch: RowBatch, seq: bigint): number {
    let table = this.newest;
    if (table?.generation !== generation) {
      table = new GenerationTable({ ...this.#options, generation });
      this.list = [...this.list, table];
    }
    const before = table.sizeBytes;
    table.append(batch, seq);
    return table.sizeBytes - before;
  }

  /** The generation that receives the writes. */
  get newest(): GenerationTable | undefined {
    return this.list.at(-1);
  }

  find(generation: number): GenerationTable | undefined {
    return this.list.find((table) => table.generation === generation);
  }

  /** Smallest `seq` of the rows; `undefined` if there are none. */
  get minSeq(): bigint | undefined {
    return this.list.reduce<bigint | undefined>(
      (min, table) => (min === undefined || table.minSeq < min ? table.minSeq : min),
      undefined,
    );
  }

  /** Returns the state of all generations for one query. */
  snapshot(): GenerationSnapshot[] {
    return this.list.map((table) => ({ table, checkedLateRows: table.checkedLateRows }));
  }
}

export function generationSources(generations: readonly GenerationSnapshot[]): Source[] {
  return generations.flatMap(({ table, checkedLateRows }) => [
    ...(table.main.rowCount > 0 ? [table.mainSource()] : []),
    ...(checkedLateRows > 0 ? [table.lateSource(checkedLateRows)] : []),
  ]);
}
