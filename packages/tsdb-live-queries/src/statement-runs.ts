import { invariant } from '@plinth/kernel';
import type { CacheRows } from '@plinth/tsdb-caches/cache-rows.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import { outcomeOf } from '@plinth/tsdb-model/query/query-outcome.js';
import type { SessionStatement } from '@plinth/tsdb-model/query/query-session.js';
import type { ScanRequest, ScanSource } from '@plinth/tsdb-model/scan.js';
import type { Cell } from './batch-rows.js';
import type { GatheredRows } from './gathered-rows.js';
import type { LiveQuery, LiveStatements } from './live-query.js';

/** Maximum number of rows in the result for one range of buckets, which is one event. */
const MAX_BUCKET_ROWS = 100_000;

/** Returns whether the statement can run later. */
export const isQueueFull = (error: unknown): boolean => tsdbError.is(error, 'query_queue_full');

const TOO_MANY_ROWS =
  'the buckets that changed have more than 100,000 rows; use wider buckets, fewer groups or a condition';

/** Runs the statements of live queries on parts of their table. */
export class StatementRuns implements LiveStatements {
  readonly #engine: Pick<Engine, 'openSession'>;
  readonly #rows: CacheRows;

  constructor(engine: Pick<Engine, 'openSession'>, rows: CacheRows) {
    this.#engine = engine;
    this.#rows = rows;
  }

  async compute(query: LiveQuery, rows: GatheredRows): Promise<readonly ResultChunk[]> {
    const { planned, scan } = planOf(query);
    const source: ScanSource = { prepare: ({ columns }) => this.#textOf(rows, columns) };
    return await this.#run(query, {
      ...{ ...planned, scans: [{ ...scan, source }], columnQuery: undefined },
      // These properties depend on the stored table.
      ...{ timeOrder: undefined, lateMaterializedTags: [] },
    });
  }

  async bucketRows(
    query: LiveQuery,
    minTimeNs: bigint,
    maxTimeNs: bigint,
  ): Promise<readonly ResultChunk[]> {
    const { planned, scan } = planOf(query);
    const within = <T extends { readonly minTimeNs: bigint; readonly maxTimeNs: bigint }>(
      range: T,
    ): T => ({
      ...range,
      minTimeNs: range.minTimeNs > minTimeNs ? range.minTimeNs : minTimeNs,
      maxTimeNs: range.maxTimeNs < maxTimeNs ? range.maxTimeNs : maxTimeNs,
    });
    return await this.#run(
      query,
      {
        ...{ ...planned, scans: [within(scan)] },
        columnQuery: planned.columnQuery && within(planned.columnQuery),
      },
      MAX_BUCKET_ROWS,
    );
  }

  #textOf(rows: GatheredRows, names: readonly string[]) {
    const indexes = names.map((name) => rows.columns.findIndex((each) => each.name === name));
    const columns = indexes.map((index) => rows.columns[index] as Column); // the scan has these columns
    return this.#rows.toText({
      ...{ columns, rowCount: rows.rowCount, orderBy: [] },
      rowAt: (row) => {
        const cells = rows.rowAt(row);
        return indexes.map((index) => (cells[index] as Cell) ?? undefined);
      },
    });
  }

  async #run(
    query: LiveQuery,
    statement: SessionStatement,
    maxRowCount = Number.POSITIVE_INFINITY,
  ): Promise<readonly ResultChunk[]> {
    const session = await this.#engine.openSession({
      ...{ owner: '', language: 'sql', text: query.text, database: query.database.name },
      ...{ signal: new AbortController().signal, isInternal: true },
    });
    const chunks: ResultChunk[] = [];
    let rowCount = 0;
    try {
      for await (const chunk of session.read(statement)) {
        chunks.push(chunk);
        rowCount += chunk.rowCount;
        if (rowCount > maxRowCount) throw tsdbError('live_query_unsupported', TOO_MANY_ROWS);
      }
      session.end('success');
    } catch (error) {
      session.end(outcomeOf(error));
      throw error;
    }
    return chunks;
  }
}

function planOf({ plan: { output } }: LiveQuery): {
  readonly planned: PlannedQuery;
  readonly scan: ScanRequest;
} {
  invariant(output.kind !== 'copied', 'copied rows need no statement');
  const { planned } = output;
  const [scan] = planned.scans;
  invariant(scan !== undefined, 'a live query reads one table');
  return { planned, scan };
}
