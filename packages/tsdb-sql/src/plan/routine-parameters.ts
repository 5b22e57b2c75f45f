import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { convert } from '../bind/expr/convert.js';
import type { Bound } from '../bind/types/bound.js';
import type { FunctionCall, FunctionDefinition } from '../functions/function-definition.js';
import type { FunctionRegistry } from '../functions/registry.js';
import { BOOLEAN, FLOAT64, INT64, INTERVAL, TIMESTAMP, UTF8 } from '../functions/signature.js';

/** One accepted call of a function, with its result type. */
interface Signature {
  readonly args: readonly SqlType[];
  readonly result: SqlType;
  readonly isVariadic: boolean;
}

const PLAIN: readonly SqlType[] = [BOOLEAN, INT64, FLOAT64, UTF8, TIMESTAMP];
const NUMBERS: SqlType = { kind: 'list', element: INT64 };
const MANY_COUNT = 6;

/**
 * Argument lists to try: each type once and repeated, and the mixtures used by functions of
 * strings, timestamps and lists.
 */
const TRIED: readonly (readonly SqlType[])[] = [
  [],
  ...[1, 2, 3].flatMap((count) => PLAIN.map((type) => Array<SqlType>(count).fill(type))),
  ...PLAIN.map((type) => [type, TIMESTAMP]).slice(0, -1),
  [UTF8, INT64],
  [UTF8, TIMESTAMP],
  [TIMESTAMP, UTF8],
  [INTERVAL, TIMESTAMP],
  [INTERVAL, TIMESTAMP, TIMESTAMP],
  [FLOAT64, INT64],
  [UTF8, INT64, INT64],
  [UTF8, INT64, UTF8],
  [UTF8, UTF8, INT64],
  [UTF8, UTF8, INT64, INT64],
  [NUMBERS],
  [NUMBERS, INT64],
  [INT64, NUMBERS],
  [NUMBERS, NUMBERS],
  [NUMBERS, INT64, INT64],
  [NUMBERS, INT64, INT64, INT64],
];

/** A function that accepts one of these long argument lists is listed as variadic. */
const MANY: readonly (readonly SqlType[])[] = [INT64, UTF8].map((type) =>
  Array<SqlType>(MANY_COUNT).fill(type),
);

const known = new WeakMap<FunctionRegistry, readonly Row[]>();

interface Row {
  readonly [column: string]: unknown;
}

/**
 * Returns the rows of `information_schema.parameters`. They are found by binding each function with
 * arguments of plain types. They are cached, because this takes a few thousand calls, none of which
 * is run.
 */
export function parameterRows(functions: FunctionRegistry): readonly Row[] {
  const rows = known.get(functions) ?? functions.names().flatMap((name) => rowsOf(name, functions));
  known.set(functions, rows);
  return rows;
}

/** Returns the number of calls needed to create the rows. */
export const parameterCallCount = (functions: FunctionRegistry): number =>
  functions.names().length * (TRIED.length + MANY.length);

function rowsOf(name: string, functions: FunctionRegistry): readonly Row[] {
  const definition = functions.find(name);
  const signatures = definition === undefined ? [] : signaturesOf(name, definition);
  return signatures.flatMap(({ args, result, isVariadic }, index) => {
    const row = (mode: 'IN' | 'OUT', position: number, type: SqlType): Row => ({
      specific_catalog: 'public',
      specific_schema: 'information_schema',
      specific_name: name,
      ordinal_position: BigInt(position),
      parameter_mode: mode,
      data_type: arrowTypeName(type),
      is_variadic: isVariadic,
      rid: BigInt(index),
    });
    return [...args.map((type, at) => row('IN', at + 1, type)), row('OUT', 1, result)];
  });
}

function signaturesOf(name: string, definition: FunctionDefinition): readonly Signature[] {
  const isVariadic = MANY.some((args) => resultOf(name, definition, args) !== undefined);
  return TRIED.flatMap((args) => {
    const result = resultOf(name, definition, args);
    return result === undefined ? [] : [{ args, result, isVariadic }];
  });
}

/** Returns `undefined` if the call is rejected. */
function resultOf(
  name: string,
  { bind, kind }: FunctionDefinition,
  types: readonly SqlType[],
): SqlType | undefined {
  const call: FunctionCall = {
    name,
    args: types.map(argument),
    isStar: false,
    distinct: false,
    orderBy: [],
    ignoreNulls: false,
    isWindow: kind === 'window',
    nowNs: 0n,
    aggregate: () => 'NULL',
    coerce: (arg, type) => convert(arg, type),
  };
  try {
    return bind(call).type;
  } catch (error) {
    if (tsdbError.is(error, 'plan_error', 'not_implemented', 'execution_error')) return undefined;
    throw error;
  }
}

/** Returns an argument of the type; a stride must be constant. */
const argument = (type: SqlType): Bound => ({
  text: 'x',
  type,
  displayName: 'x',
  hasAggregate: false,
  hasWindow: false,
  ...(type.kind === 'interval' && {
    constant: { value: { months: 0, days: 0, nanos: 60_000_000_000n } },
  }),
});
