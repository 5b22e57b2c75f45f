import { assertNever } from '@plinth/kernel';
import { asType, calculate } from '../../plan/arithmetic.js';
import type { ColumnRef, SlotExpr } from '../../plan/compile/compiled-select.js';
import { COLUMN_SLOTS, TIME_SLOT } from '../../plan/compile/slots.js';
import type { Filter, Operand } from '../../plan/condition/filter.js';
import { convertValue, type Value } from '../../plan/data-type.js';
import { callScalar, datePart } from './scalars.js';

/**
 * Computes an expression for one row. `slots` contains the values of the calls, then the values of the columns.
 */
export type RowFunction = (slots: readonly Value[], time: bigint) => Value;

/** @param callCount number of slots for calls; the column slots follow them. */
export function rowFunction(expr: SlotExpr, callCount: number): RowFunction {
  switch (expr.kind) {
    case 'slot': {
      if (expr.index === TIME_SLOT) return (_, time) => time;
      const index = expr.index < COLUMN_SLOTS ? expr.index : expr.index - COLUMN_SLOTS + callCount;
      return (slots) => slots[index] ?? null;
    }
    case 'constant': {
      const { value } = expr;
      return () => value;
    }
    case 'binary': {
      const { op, type } = expr;
      const left = rowFunction(expr.left, callCount);
      const right = rowFunction(expr.right, callCount);
      return (slots, time) => asType(calculate(op, left(slots, time), right(slots, time)), type);
    }
    case 'scalar': {
      const { name, args } = expr;
      if (name === 'date_part') {
        const [part] = args;
        const text = part?.kind === 'constant' ? String(part.value).toLowerCase() : '';
        return (_, time) => datePart(text, time);
      }
      const functions = args.map((arg) => rowFunction(arg, callCount));
      return (slots, time) =>
        callScalar(
          name,
          functions.map((each) => each(slots, time)),
        );
    }
    default:
      return assertNever(expr);
  }
}

export type RowPredicate = (columns: readonly Value[], time: bigint) => boolean;

/** Returns a predicate over rows; `indexOf` maps a reference to its column. */
export function rowPredicate(filter: Filter, indexOf: (ref: ColumnRef) => number): RowPredicate {
  switch (filter.kind) {
    case 'constant': {
      const { value } = filter;
      return () => value;
    }
    case 'and':
    case 'or': {
      const left = rowPredicate(filter.left, indexOf);
      const right = rowPredicate(filter.right, indexOf);
      return filter.kind === 'and'
        ? (columns, time) => left(columns, time) && right(columns, time)
        : (columns, time) => left(columns, time) || right(columns, time);
    }
    case 'match': {
      const { matcher, isNegated } = filter;
      const operand = operandFunction(filter.operand, indexOf);
      return (columns, time) => {
        const value = operand(columns, time);
        return typeof value === 'string' && matcher.test(value) !== isNegated;
      };
    }
    case 'compare': {
      const { op } = filter;
      const left = operandFunction(filter.left, indexOf);
      const right = operandFunction(filter.right, indexOf);
      return (columns, time) => {
        const a = left(columns, time);
        const b = right(columns, time);
        if (a === null || b === null) return false;
        switch (op) {
          case '=':
            return isEqual(a, b);
          case '!=':
            return !isEqual(a, b);
          case '<':
            return a < b;
          case '<=':
            return a <= b;
          case '>':
            return a > b;
          default:
            return a >= b;
        }
      };
    }
    default:
      return assertNever(filter);
  }
}

/** Compares values; an integer may equal a float. */
function isEqual(a: Exclude<Value, null>, b: Exclude<Value, null>): boolean {
  return typeof a === typeof b ? a === b : a <= b && a >= b;
}

function operandFunction(operand: Operand, indexOf: (ref: ColumnRef) => number): RowFunction {
  switch (operand.kind) {
    case 'column': {
      const { ref } = operand;
      const index = indexOf(ref);
      // An absent tag reads as an empty string.
      if (ref.isTag) return (columns) => columns[index] ?? '';
      return (columns) => convertValue(columns[index] ?? null, ref.type);
    }
    case 'constant': {
      const { value } = operand;
      return () => value;
    }
    case 'binary': {
      const left = operandFunction(operand.left, indexOf);
      const right = operandFunction(operand.right, indexOf);
      return (columns, time) => calculate(operand.op, left(columns, time), right(columns, time));
    }
    case 'scalar': {
      const args = operand.args.map((arg) => operandFunction(arg, indexOf));
      return (columns, time) =>
        callScalar(
          operand.name,
          args.map((arg) => arg(columns, time)),
        );
    }
    case 'date_part':
      return (_, time) => datePart(operand.part, time);
    default:
      return assertNever(operand);
  }
}
