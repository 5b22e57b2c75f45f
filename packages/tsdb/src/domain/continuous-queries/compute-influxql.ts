import { readContinuousQuery } from '@plinth/tsdb-influxql/continuous/continuous-query.js';
import type { Influxql } from '@plinth/tsdb-influxql/influxql.js';
import { seriesOf } from '@plinth/tsdb-influxql/result.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { QueryWork } from './query-runner.js';

/**
 * Continuous queries share query slots as one owner, so that they do not delay client queries. Only
 * administrators create them; they run with full access, also after the creator was deleted.
 */
export const QUERY_ACCESS: DatabaseAccess = { ...FULL_ACCESS, owner: 'continuous queries' };

/** Prepares a CREATE CONTINUOUS QUERY statement. Throws `ParseError` and `plan_error`. */
export function influxqlWork(text: string, database: string, influxql: () => Influxql): QueryWork {
  const { timing, target, selectFor } = readContinuousQuery(text);
  return {
    timing,
    target,
    compute: (range, signal) =>
      writeResult(influxql(), { text: selectFor(range), database, signal }),
  };
}

/** Runs `SELECT ... INTO` and returns the number of written rows. */
async function writeResult(
  influxql: Influxql,
  request: { readonly text: string; readonly database: string; readonly signal: AbortSignal },
): Promise<bigint> {
  const run = await influxql.open({
    ...request,
    access: QUERY_ACCESS,
    policy: undefined,
    params: new Map(),
    isInternal: true,
  });
  let outcome: 'success' | 'fail' = 'fail';
  try {
    let writtenCount = 0n;
    const result = await run.execute(0);
    const index = result.columns.findIndex(({ name }) => name === 'written');
    for await (const { columns } of seriesOf(result)) {
      writtenCount += BigInt((columns[index]?.[0] ?? 0) as bigint | number);
    }
    outcome = 'success';
    return writtenCount;
  } finally {
    run.end(outcome);
  }
}
