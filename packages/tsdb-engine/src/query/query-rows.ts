import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { RowsStatement } from '@plinth/tsdb-model/query/planned-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { type DuckDbHost, rowSizeOf } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { SeriesIndex } from '../series/series-index.js';
import { collectedRows } from './collected-rows.js';
import { explainedRows } from './explained-rows.js';
import { mostRowsOf, SlicedQuery } from './sliced-query.js';
import { MemoryBudget, type Release } from './slices/memory-budget.js';
import { RowWidth, SORTED_VALUE_BYTES } from './slices/row-width.js';
import { SliceMemory } from './slices/slice-memory.js';
import { yieldingBetween } from './slots/yielding-between.js';

/** Larger aggregates are copied out of DuckDB, like sorted rows. */
const FEW_ROWS = 8192;
/** DuckDB memory per aggregate value, including its share of the group. */
const AGGREGATED_VALUE_BYTES = 100;
/** DuckDB keeps this many times the size of the rows that it has sorted (ADR 0071). */
const KEPT_OF_SORTED = 2;

/** A query that is ready to run: its sources are pinned. */
export interface RunnableQuery {
  readonly planned: RowsStatement;
  /** SQL text for DuckDB, or the computed result. */
  readonly textOrResult: string | Iterable<ResultChunk>;
  /**
   * The same statement divided into consecutive slices, if the result may be too large for memory.
   */
  readonly sliced?: SlicedQuery | undefined;
  /** Whether DuckDB must collect all rows first: see `collectedRows`. */
  readonly isCollected?: boolean;
  /** Estimated rows that DuckDB may have to keep in memory before it returns the first row. */
  readonly toSort?: RowsToSort | undefined;
  /** The client of the query; its signal includes the deadline. */
  readonly queryContext: QueryContext;
}

/** Runs planned queries, each in the way that needs the least memory. */
export class QueryRows {
  readonly #duckDb: DuckDbHost;
  readonly #seriesOf: (table: TableSchema) => SeriesIndex;
  readonly #memoryBudget: MemoryBudget;
  readonly #slices = new SliceMemory();

  constructor(duckDb: DuckDbHost, seriesOf: (table: TableSchema) => SeriesIndex) {
    this.#duckDb = duckDb;
    this.#memoryBudget = new MemoryBudget(duckDb.memoryLimitBytes);
    this.#seriesOf = seriesOf;
  }

  prepare(
    planned: RowsStatement,
    scans: readonly PreparedScan[],
    queryContext: QueryContext,
  ): RunnableQuery & { readonly textOrResult: string } {
    return {
      planned,
      textOrResult: planned.render((index) => (scans[index] as PreparedScan).text),
      sliced: SlicedQuery.of(planned, scans, this.#seriesOf),
      isCollected:
        planned.isUnordered === true &&
        (planned.hasUnion === true || scans.some(({ hasUnion }) => hasUnion)),
      toSort: rowsToSort(planned, scans),
      queryContext,
    };
  }

  run(query: RunnableQuery): AsyncIterable<ResultChunk> {
    const { textOrResult, planned, sliced, toSort, queryContext } = query;
    if (typeof textOrResult !== 'string') return yieldingBetween(textOrResult, queryContext);
    const { columns, mayMaterialize, isExplain } = planned;
    if (sliced?.isLarge(columns)) return this.#slicedRows(sliced, columns, queryContext);
    const isSmallResult =
      mayMaterialize && !(isGrouped(planned) && (toSort?.maxResultRows ?? 0) > FEW_ROWS);
    if (isExplain || isSmallResult || toSort === undefined) {
      const { signal, owner } = queryContext;
      const chunks = this.#duckDb.stream({
        text: textOrResult,
        columns,
        isMaterialized: mayMaterialize,
        signal,
        owner,
      });
      return isExplain ? explainedRows(chunks) : chunks;
    }
    const text = query.isCollected ? collectedRows(textOrResult) : textOrResult;
    return this.#sortedRows(text, { columns, sliced, toSort, queryContext });
  }

  #slicedRows(
    sliced: SlicedQuery,
    columns: readonly OutputColumn[],
    queryContext: QueryContext,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    return sliced.rows({ duckDb: this.#duckDb, memory: this.#slices, columns, queryContext });
  }

  /**
   * DuckDB keeps all rows that it sorts until the last one is read, ten times as many as a limit
   * may return. Bounded results are therefore copied out immediately, or sliced if they do not fit
   * in memory. The number of concurrent sorts is limited.
   */
  async *#sortedRows(
    text: string,
    options: {
      readonly columns: readonly OutputColumn[];
      readonly sliced: SlicedQuery | undefined;
      readonly toSort: RowsToSort;
      readonly queryContext: QueryContext;
    },
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { columns, sliced, toSort, queryContext } = options;
    const rowSize = rowSizeOf(columns);
    const releaseResult =
      rowSize === undefined
        ? undefined
        : this.#memoryBudget.reserveForResult(toSort.maxResultRows * rowSize, queryContext);
    if (releaseResult === undefined && sliced !== undefined) {
      yield* this.#slicedRows(sliced, columns, queryContext);
      return;
    }
    let releaseDuckDb: Release | undefined;
    let releaseSort: Release | undefined;
    try {
      if (releaseResult === undefined)
        releaseDuckDb = await this.#memoryBudget.reserveInDuckDb(
          toSort.bytesInDuckDb(),
          queryContext,
        );
      releaseSort = await this.#memoryBudget.reserveForSort(toSort.sortBytes, queryContext);
      const aheadRows = releaseResult === undefined ? 0 : toSort.maxResultRows;
      yield* this.#duckDb.stream({
        text,
        columns,
        isMaterialized: false,
        signal: queryContext.signal,
        owner: queryContext.owner,
        readAheadRows: aheadRows,
        onReadAhead: releaseSort,
      });
    } finally {
      releaseSort?.();
      releaseDuckDb?.();
      releaseResult?.();
    }
  }
}

interface RowsToSort {
  /** Estimated memory that DuckDB needs to sort or group the rows. */
  readonly sortBytes: number;
  /**
   * Estimated size of the sorted rows that stay in DuckDB until the last one is read. Computed on
   * demand, because few queries need it.
   */
  readonly bytesInDuckDb: () => number;
  /** Estimated maximum number of result rows. */
  readonly maxResultRows: number;
}

function rowsToSort(planned: RowsStatement, scans: readonly PreparedScan[]): RowsToSort {
  let sortBytes = 0;
  let rowCount = 0;
  scans.forEach(({ sliceable }, index) => {
    const rows = (sliceable?.spans ?? []).reduce((sum, span) => sum + span.rowCount, 0);
    rowCount += rows;
    sortBytes += rows * (planned.scans[index]?.columns.length ?? 0) * SORTED_VALUE_BYTES;
  });
  // A join of several scans may return more rows than all of them together.
  const maxScannedRows = scans.length === 1 ? rowCount : Number.POSITIVE_INFINITY;
  const maxResultRows = Math.min(maxScannedRows, mostRowsOf(planned, scans));
  const bytesInDuckDb = (): number => {
    const stringBytes = scans.reduce(
      (sum, { sliceable }) => sum + (sliceable?.stringBytes ?? 0),
      0,
    );
    const width = new RowWidth(planned.columns, stringBytes).bytes ?? 0;
    return Math.max(sortBytes, KEPT_OF_SORTED * rowCount * width);
  };
  return isGrouped(planned)
    ? {
        sortBytes: maxResultRows * planned.columns.length * AGGREGATED_VALUE_BYTES,
        bytesInDuckDb,
        maxResultRows,
      }
    : { sortBytes, bytesInDuckDb, maxResultRows };
}

/** True for aggregates by group, which do not keep the rows that they read. */
const isGrouped = ({ groupTags, timeOrder }: RowsStatement): boolean =>
  groupTags !== undefined && timeOrder === undefined;
