import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SelectStatement } from './ast/select.js';
import type { Statement } from './ast/statements.js';
import { ParseError } from './parse/parse-error.js';

/**
 * Checks a request to the native endpoint, which accepts one statement that InfluxDB 3 supports.
 * Throws `ParseError`, `plan_error` or `not_implemented`.
 * Source: tsdb-http, "Failures".
 */
export function checkNative(statements: readonly Statement[]): void {
  const [statement] = statements;
  if (statement === undefined) throw new ParseError('invalid InfluxQL statement', 0);
  if (statements.length > 1) {
    throw tsdbError('plan_error', 'must provide only one InfluxQl statement per query');
  }
  switch (statement.kind) {
    case 'create_database':
      throw tsdbError('not_implemented', 'CREATE DATABASE');
    case 'delete':
      throw tsdbError('not_implemented', 'DELETE');
    case 'drop_measurement':
      throw tsdbError('not_implemented', 'DROP MEASUREMENT');
    case 'select':
      checkSelect(statement);
      return;
    case 'explain':
      checkSelect(statement.select);
      return;
    case 'show_databases':
    case 'show_retention_policies':
    case 'show_measurements':
    case 'show_tag_keys':
    case 'show_field_keys':
    case 'show_tag_values':
      if ('database' in statement && statement.database === '*') {
        throw tsdbError(
          'plan_error',
          'error in InfluxQL statement: can only perform queries on a single database',
        );
      }
      return;
    default:
      throw new ParseError('invalid InfluxQL statement', 0);
  }
}

function checkSelect(select: SelectStatement): void {
  if (select.into !== undefined) throw new ParseError('invalid InfluxQL statement', 0);
  if (select.seriesLimit !== undefined || select.seriesOffset !== undefined) {
    throw tsdbError('not_implemented', 'SLIMIT or SOFFSET');
  }
  for (const source of select.sources) if (source.kind === 'subquery') checkSelect(source.select);
}
