import { invariant } from '@plinth/kernel';
import type { ParquetFile } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import { noteFailure } from './begin-query-context.js';
import type { LoggedQuery } from './log/logged-query.js';
import type { RunnableQuery } from './query-rows.js';
import { handleQueryError } from './query-sources.js';
import type { QueryTicket } from './slots/query-slots.js';
import { orAborted } from './slots/until-aborted.js';

/** A planned query with its sources pinned. Call `release` exactly once. */
export interface PreparedQuery extends RunnableQuery {
  readonly planned: PlannedQuery;
  readonly logged: LoggedQuery;
  readonly ticket: QueryTicket;
  /** The scans that DuckDB reads; empty if the result is already computed. */
  readonly scans: readonly PreparedScan[];
  release(): void;
}

/**
 * Lets DuckDB write the result as a Parquet file, which is deleted immediately if the query is
 * aborted.
 */
export async function writeQueryFile(
  prepared: PreparedQuery,
  files: SegmentFiles,
): Promise<ParquetFile> {
  const { signal } = prepared.queryContext;
  const writing = writeFile(prepared, files);
  writing
    .then(async (file) => {
      if (signal.aborted) await file.dispose();
    })
    .catch(() => undefined); // `orAborted` reports the failure
  return await orAborted(writing, signal);
}

async function writeFile(prepared: PreparedQuery, files: SegmentFiles): Promise<ParquetFile> {
  try {
    const { textOrResult, planned } = prepared;
    if (planned.isExplain) throw tsdbError('not_implemented', 'EXPLAIN in this format');
    invariant(
      typeof textOrResult === 'string',
      'a query whose result DuckDB writes to a file must be SQL text',
    );
    const file = await files.writeResult({
      // DuckDB's generated columns have other names; the file uses the names of the result.
      select: `SELECT * FROM (${textOrResult}) r(${planned.columns.map((c) => quoteName(c.name)).join(', ')})`,
      queryContext: prepared.queryContext,
    });
    prepared.logged.returned(file.rowCount);
    prepared.logged.ended('success');
    return file;
  } catch (error) {
    throw noteFailure(
      prepared.logged,
      handleQueryError(error, prepared.queryContext.signal, prepared.scans),
    );
  } finally {
    prepared.release();
  }
}
