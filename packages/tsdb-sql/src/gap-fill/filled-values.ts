import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Aggregation } from '../bind/aggregate/aggregation.js';
import { argsOf, exprArgs } from '../bind/expr/function-calls.js';
import type { Env } from '../bind/session.js';
import type { Bound } from '../bind/types/bound.js';
import { type FunctionNode, namesOf } from '../parse/ast.js';
import { isGapBinName } from './gap-bins.js';

/**
 * Binds `locf` and `interpolate`, and rejects a misplaced binning call. Returns `undefined` for any
 * other function.
 */
export function bindGapFillCall(node: FunctionNode, env: Env): Bound | undefined {
  const name = namesOf(node.name).join('.');
  if (isGapBinName(name)) {
    throw tsdbError(
      'plan_error',
      env.isGroupKey
        ? `Error during planning: ${name.toUpperCase()} must be a top-level expression in the GROUP BY clause when ` +
            'gap filling. It cannot be part of another expression or cast'
        : `Error during planning: ${name} may only be used as a GROUP BY expression`,
    );
  }
  if (name !== 'locf' && name !== 'interpolate') return undefined;
  const { aggregation } = env;
  if (aggregation?.gaps === undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${name} may only be used in the SELECT list of a gap-filling query`,
    );
  }
  const [argument, ...rest] = exprArgs(argsOf(node));
  if (argument === undefined || rest.length > 0) {
    throw tsdbError('plan_error', `Error during planning: ${name} expects exactly one argument`);
  }
  const value = env.session.bindExpr(argument, env);
  return fill(name, value, aggregation);
}

function fill(name: 'locf' | 'interpolate', value: Bound, aggregation: Aggregation): Bound {
  const aggregate = aggregation.valueOf(value.text);
  if (aggregate === undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${name} must be called on an aggregate column in a gap-filling query`,
    );
  }
  if (name === 'interpolate' && !canInterpolate(value)) {
    throw tsdbError(
      'plan_error',
      'Error during planning: interpolate must be called on a numeric aggregate or a selector of one',
    );
  }
  const filled = aggregation.addFill({ how: name, value: aggregate, type: value.type });
  return { ...value, text: filled, displayName: `${name}(${value.displayName})` };
}

function canInterpolate({ type }: Bound): boolean {
  const member =
    type.kind === 'struct' ? type.fields.find(({ name }) => name === 'value') : undefined;
  const number = member?.type ?? type;
  return (
    (number.kind === 'int' && number.bits === 64) || (number.kind === 'float' && number.bits === 64)
  );
}
