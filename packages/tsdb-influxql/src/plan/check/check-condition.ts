import type { Expr } from '../../ast/expressions.js';
import { printExpr } from '../../ast/print.js';
import { SCALARS } from '../functions.js';
import { planFailure } from '../plan-failure.js';
import { checkDatePart } from './check-arguments.js';

/** Checks the calls in a condition without its time comparisons. */
export function checkCondition(expr: Expr): void {
  switch (expr.kind) {
    case 'binary':
      checkCondition(expr.left);
      checkCondition(expr.right);
      return;
    case 'paren':
      checkCondition(expr.inner);
      return;
    case 'call': {
      const argCount = SCALARS.get(expr.name);
      if (argCount === undefined) {
        throw planFailure(
          "invalid expression, the only valid function calls are 'now' with no arguments, date_part(<literal>, time), or scalar math functions",
        );
      }
      if (expr.args.length !== argCount) {
        throw planFailure(
          `invalid number of arguments for ${expr.name}, expected ${argCount}, got ${expr.args.length}`,
        );
      }
      if (expr.name === 'date_part') checkDatePart(expr);
      else for (const arg of expr.args) checkCondition(arg);
      return;
    }
    case 'wildcard':
      throw planFailure(`invalid condition expression: ${printExpr(expr)}`);
    default:
  }
}
