import { isDomainError } from '@plinth/kernel';
import type { InfluxqlRun } from '@plinth/tsdb-influxql/influxql.js';
import { ParseError } from '@plinth/tsdb-influxql/parse/parse-error.js';
import { NO_DATABASE } from '@plinth/tsdb-influxql/plan/compile/find-sources.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Returns the error text in a statement's result; `undefined` for errors that are not caused by the
 * statement.
 * @param index of the statement. If the first statement is not permitted, the complete request is
 * refused, as in 1.x.
 */
export function statementErrorText(error: unknown, index: number): string | undefined {
  if (index === 0 && tsdbError.is(error, 'not_permitted')) return undefined;
  if (error instanceof ParseError)
    return error.isV1 ? error.message : `error in InfluxQL statement: ${error.message}`;
  if (!isDomainError(error)) return undefined;
  // All other domain errors here belong to this service.
  const { kind, message } = error as TsdbError;
  switch (kind) {
    case 'database_not_found':
      return `Cannot retrieve database: External error: ${message}`;
    case 'plan_error':
      return message === NO_DATABASE || !message.includes('Error during planning')
        ? message
        : `datafusion error: ${message}`;
    case 'not_implemented':
    case 'execution_error':
    case 'query_out_of_memory':
    case 'query_failed':
      return `datafusion error: ${message}`;
    default:
      return message;
  }
}

/** Returns the same text and records the failure of the run. Throws errors that the statement did not cause. */
export function failedText(run: InfluxqlRun, error: unknown, index: number): string {
  const text = statementErrorText(error, index);
  if (text === undefined) throw error;
  run.failed(error);
  return text;
}
