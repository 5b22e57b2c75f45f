import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import {
  isNested,
  isNumeric,
  isText,
  type SqlType,
  valueType,
} from '@plinth/tsdb-model/sql-type.js';
import { unionType } from '../bind/types/common-type.js';
import type { BoundExpr } from '../bound-expr.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from './function-definition.js';

export const BOOLEAN: SqlType = { kind: 'boolean' };
export const INT32: SqlType = { kind: 'int', bits: 32, signed: true };
export const INT64: SqlType = { kind: 'int', bits: 64, signed: true };
export const UINT64: SqlType = { kind: 'int', bits: 64, signed: false };
export const FLOAT64: SqlType = { kind: 'float', bits: 64 };
export const UTF8: SqlType = { kind: 'utf8' };
export const BINARY: SqlType = { kind: 'binary' };
export const DATE: SqlType = { kind: 'date' };
export const TIME: SqlType = { kind: 'time' };
export const INTERVAL: SqlType = { kind: 'interval' };
export const TIMESTAMP: SqlType = { kind: 'timestamp', unit: 'ns', zone: undefined };

type Bind = (call: FunctionCall) => FunctionResult;

export function scalar(names: readonly string[], bind: Bind): FunctionDefinition {
  return { names, kind: 'scalar', bind };
}

export function aggregate(names: readonly string[], bind: Bind): FunctionDefinition {
  return { names, kind: 'aggregate', bind };
}

export function windowFunction(names: readonly string[], bind: Bind): FunctionDefinition {
  return { names, kind: 'window', bind };
}

/** Throws unless the call has between `min` and `max` arguments (inclusive). */
export function expectArgCount(call: FunctionCall, min: number, max = min): void {
  if (call.isStar || call.args.length < min || call.args.length > max) throw badArguments(call);
}

/** Returns the argument at `index`, which `expectArgCount` has verified. */
export function argAt(call: FunctionCall, index: number): BoundExpr {
  const arg = call.args[index];
  if (arg === undefined) throw badArguments(call);
  return arg;
}

/**
 * Returns the argument at `index` converted to `type`. Throws if `accepts` rejects its own type.
 */
export function argAs(
  call: FunctionCall,
  index: number,
  type: SqlType,
  accepts: (type: SqlType) => boolean = () => true,
): BoundExpr {
  const arg = argAt(call, index);
  if (arg.type.kind !== 'null' && !accepts(arg.type)) throw badArguments(call);
  return call.coerce(arg, type);
}

export const floatArg = (call: FunctionCall, index: number): BoundExpr =>
  argAs(call, index, FLOAT64, (type) => isNumeric(type) || isText(type));

export const intArg = (call: FunctionCall, index: number): BoundExpr =>
  argAs(call, index, INT64, (type) => isNumeric(type) || isText(type));

/** String functions accept any type except nested values and bytes. */
export const textArg = (call: FunctionCall, index: number): BoundExpr =>
  argAs(call, index, UTF8, (type) => !isNested(type));

/** Returns the value of a constant string argument; `what` names it in the error message. */
export function constantText(call: FunctionCall, index: number, what: string): string {
  const value = argAt(call, index).constant?.value;
  if (typeof value !== 'string') {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${call.name} requires ${what} to be a string literal`,
    );
  }
  return value;
}

/** Returns the planner's error for a wrong number or wrong types of arguments. */
export function badArguments(call: FunctionCall, reason?: string): TsdbError<'plan_error'> {
  const types = call.args.map((arg) => arrowTypeName(arg.type)).join(', ');
  return tsdbError(
    'plan_error',
    `Error during planning: Failed to coerce arguments to satisfy a call to '${call.name}' function: ` +
      `${reason ?? `coercion from [${types}] failed`} ` +
      `No function matches the given name and argument types '${call.name}(${types})'. ` +
      'You might need to add explicit type casts.',
  );
}

export function isInteger(type: SqlType): boolean {
  return type.kind === 'int';
}

/** Returns the common type of all these types, or `undefined`. */
export function commonType(types: readonly SqlType[], textYields = true): SqlType | undefined {
  return unionType(types.map(valueType), textYields);
}
