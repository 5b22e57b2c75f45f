import { isDomainError } from '@plinth/kernel';
import type { InfluxqlRun } from '../../domain/influxql/influxql.js';
import { ParseError } from '../../domain/influxql/parse/parse-error.js';
import { NO_DATABASE } from '../../domain/influxql/plan/compile/find-sources.js';
import { type TsdbError, tsdbError } from '../../errors.js';

/**
 * How a statement's failure reads in its result; `undefined` for what is no failure of the statement.
 * @param index of the statement: when the first one is not permitted, the request is refused as a whole, as in 1.x.
 */
export function statementErrorText(error: unknown, index: number): string | undefined {
  if (index === 0 && tsdbError.is(error, 'not_permitted')) return undefined;
  if (error instanceof ParseError) return `error in InfluxQL statement: ${error.message}`;
  if (!isDomainError(error)) return undefined;
  // What reaches this place comes from the service's own domain.
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

/** The same of a run's statement, noted as its failure. Throws what is no failure of the statement. */
export function failedText(run: InfluxqlRun, error: unknown, index: number): string {
  const text = statementErrorText(error, index);
  if (text === undefined) throw error;
  run.failed(error);
  return text;
}
