import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isNumeric, isText } from '@plinth/tsdb-model/sql-type.js';
import { BOOLEAN, type Bound } from '../../types/bound.js';
import { convert } from '../convert.js';

/** Binds the condition of CASE and FILTER, which converts numbers and strings to booleans. */
export function castCondition(expr: Bound): Bound {
  return condition(isNumeric(expr.type) || isText(expr.type) ? convert(expr, BOOLEAN) : expr);
}

/** Requires a boolean or NULL operand; throws otherwise. */
export function condition(expr: Bound): Bound {
  if (expr.type.kind === 'boolean') return expr;
  if (expr.type.kind === 'null') return convert(expr, BOOLEAN);
  throw tsdbError(
    'plan_error',
    `Error during planning: Cannot infer common argument type for logical boolean operation ` +
      `${arrowTypeName(expr.type)} AND Boolean`,
  );
}
