import type { OutputColumn, ResultChunk } from '../../../model/columns/result.js';
import type { QueryOwner } from '../../../model/query-owner.js';
import type { TableSchema } from '../../../model/schema.js';
import { type DuckDbHost, rowSizeOf } from '../../../storage/duckdb/duckdb-host.js';
import type { RowsStatement } from '../../sql/planned-query.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { SeriesIndex } from '../series/series-index.js';
import { collectedRows } from './collected-rows.js';
import { explainedRows } from './explained-rows.js';
import { mostRowsOf, QueryParts } from './query-parts.js';
import { MemoryBudget, type Release } from './slices/memory-budget.js';
import { RowWidth, SORTED_VALUE_BYTES } from './slices/row-width.js';
import { SliceMemory } from './slices/slice-memory.js';
import { yieldingBetween } from './slots/yielding-between.js';

/** Aggregates of more rows than these are taken over from the engine, like sorted rows. */
const FEW_ROWS = 8192;
/** What the engine holds of a value of an aggregate, with its share of the group. */
const AGGREGATED_VALUE_BYTES = 100;
/** The engine keeps so much more than the values of rows that it has sorted (ADR 0071). */
const KEPT_OF_SORTED = 2;

/** A query that may begin: its sources are pinned. */
export interface RunnableQuery {
  readonly planned: RowsStatement;
  /** Text for the engine, or the answer itself. */
  readonly work: string | Iterable<ResultChunk>;
  /** The same text in parts, one behind the other, where the answer may be too large to be held. */
  readonly parts?: QueryParts | undefined;
  /** What the engine may have to hold until it has the first row. */
  readonly toSort?: RowsToSort | undefined;
  /** Of the query: its client's, or its time limit's. */
  readonly queryOwner: QueryOwner;
}

/** Runs queries that are planned, each in the way that holds the least memory. */
export class QueryRows {
  readonly #host: DuckDbHost;
  readonly #seriesOf: (table: TableSchema) => SeriesIndex;
  readonly #held: MemoryBudget;
  readonly #slices = new SliceMemory();

  constructor(host: DuckDbHost, seriesOf: (table: TableSchema) => SeriesIndex) {
    this.#host = host;
    this.#held = new MemoryBudget(host.memoryLimitBytes);
    this.#seriesOf = seriesOf;
  }

  prepared(
    planned: RowsStatement,
    scans: readonly PreparedScan[],
    queryOwner: QueryOwner,
  ): RunnableQuery & { readonly work: string } {
    return {
      planned,
      work: planned.render((index) => (scans[index] as PreparedScan).text),
      parts: QueryParts.of(planned, scans, this.#seriesOf),
      toSort: rowsToSort(planned, scans),
      queryOwner,
    };
  }

  of({ work, planned, parts, toSort, queryOwner }: RunnableQuery): AsyncIterable<ResultChunk> {
    if (typeof work !== 'string') return yieldingBetween(work, queryOwner);
    const { columns, isSmall, isExplained } = planned;
    if (parts?.isLarge(columns)) return this.#slicedRows(parts, columns, queryOwner);
    const isMade = isSmall && !(isGrouped(planned) && (toSort?.answerRows ?? 0) > FEW_ROWS);
    if (isExplained || isMade || toSort === undefined) {
      const chunks = this.#host.stream({ text: work, columns, isSmall, ...by(queryOwner) });
      return isExplained ? explainedRows(chunks) : chunks;
    }
    const isCollected = planned.isUnordered === true && work.includes(' UNION ALL ');
    const text = isCollected ? collectedRows(work) : work;
    return this.#sortedRows(text, { columns, parts, toSort, queryOwner });
  }

  #slicedRows(
    parts: QueryParts,
    columns: readonly OutputColumn[],
    queryOwner: QueryOwner,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    return parts.rows({ host: this.#host, memory: this.#slices, columns, queryOwner });
  }

  /**
   * The engine holds all rows that it sorts until the last one is taken, ten times what a limit may let out. So the answer is
   * taken over at once where it has an end in sight, and comes in slices where there is no room for it; and not all sorts run at
   * a time.
   */
  async *#sortedRows(
    text: string,
    at: {
      readonly columns: readonly OutputColumn[];
      readonly parts: QueryParts | undefined;
      readonly toSort: RowsToSort;
      readonly queryOwner: QueryOwner;
    },
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { columns, parts, toSort, queryOwner } = at;
    const rowSize = rowSizeOf(columns);
    const taken =
      rowSize === undefined
        ? undefined
        : this.#held.takeForAnswer(toSort.answerRows * rowSize, queryOwner);
    if (taken === undefined && parts !== undefined) {
      yield* this.#slicedRows(parts, columns, queryOwner);
      return;
    }
    let staying: Release | undefined;
    let sorted: Release | undefined;
    try {
      if (taken === undefined)
        staying = await this.#held.takeToStay(toSort.keptBytes(), queryOwner);
      sorted = await this.#held.takeForSort(toSort.sizeBytes, queryOwner);
      const aheadRows = taken === undefined ? 0 : toSort.answerRows;
      yield* this.#host.stream({
        text,
        columns,
        isSmall: false,
        ...by(queryOwner),
        aheadRows,
        onMade: sorted,
      });
    } finally {
      sorted?.();
      staying?.();
      taken?.();
    }
  }
}

const by = ({ signal, owner }: QueryOwner): QueryOwner => ({ signal, owner });

interface RowsToSort {
  /** About what the rows take that are held. */
  readonly sizeBytes: number;
  /** The same until the last row is taken, of the columns that come out. Few queries need to know. */
  readonly keptBytes: () => number;
  /** About as many rows come out at most. */
  readonly answerRows: number;
}

function rowsToSort(planned: RowsStatement, scans: readonly PreparedScan[]): RowsToSort {
  let sizeBytes = 0;
  let rowCount = 0;
  scans.forEach(({ parts }, index) => {
    const rows = (parts?.spans ?? []).reduce((sum, span) => sum + span.rowCount, 0);
    rowCount += rows;
    sizeBytes += rows * (planned.scans[index]?.columns.length ?? 0) * SORTED_VALUE_BYTES;
  });
  // Several scans may have more rows in common than all of them together.
  const mostRows = scans.length === 1 ? rowCount : Number.POSITIVE_INFINITY;
  const answerRows = Math.min(mostRows, mostRowsOf(planned, scans));
  const keptBytes = (): number => {
    const textBytes = scans.reduce((sum, { parts }) => sum + (parts?.textBytes ?? 0), 0);
    const width = new RowWidth(planned.columns, textBytes).bytes ?? 0;
    return Math.max(sizeBytes, KEPT_OF_SORTED * rowCount * width);
  };
  return isGrouped(planned)
    ? {
        sizeBytes: answerRows * planned.columns.length * AGGREGATED_VALUE_BYTES,
        keptBytes,
        answerRows,
      }
    : { sizeBytes, keptBytes, answerRows };
}

/** Its rows are made of groups: what is read is not held. */
const isGrouped = ({ groupTags, timeOrder }: RowsStatement): boolean =>
  groupTags !== undefined && timeOrder === undefined;
