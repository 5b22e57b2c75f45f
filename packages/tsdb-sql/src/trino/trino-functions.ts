import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { parseInterval } from '../bind/expr/operators/intervals.js';
import { FLOAT64 } from '../bind/types/bound.js';
import { parseTimestamp } from '../bind/types/parse-timestamp.js';
import type { ConstantValue } from '../bound-expr.js';
import { checkStride } from '../functions/time/time-bins.js';
import { partOf, truncationOf } from '../functions/time/time-parts.js';
import type { ExprTree } from '../plan-tree.js';
import { notVerified } from './not-verified.js';
import { binText, partText } from './trino-times.js';

/** A call whose arguments are printed with the type that the function needs. */
export interface TrinoCall {
  readonly name: string;
  readonly args: readonly ExprTree[];
  /** Type of the result. */
  readonly type: SqlType;
  /** Whether an argument has neither infinities nor NaN. */
  isFinite(arg: ExprTree): boolean;
  /** Prints an argument, converted to a type if one is given. */
  print(arg: ExprTree, type?: SqlType): string;
}

type Print = (call: TrinoCall) => string;

export interface TrinoFunction {
  readonly kind: 'scalar' | 'aggregate' | 'window';
  readonly print: Print;
}

/** Returns the argument at `index`. Throws for another number of arguments than the verified ones. */
function argAt({ args, name }: TrinoCall, index: number, count: number): ExprTree {
  const arg = args[index];
  if (arg === undefined || args.length !== count)
    throw notVerified(`function ${name} with ${args.length} arguments`);
  return arg;
}

const floatText = (call: TrinoCall, index: number, count: number): string => {
  const arg = argAt(call, index, count);
  if (!['int', 'float', 'null'].includes(arg.type.kind))
    throw notVerified(`function ${call.name} of ${arrowTypeName(arg.type)}`);
  return call.print(arg, FLOAT64);
};

/** Strings are converted like DataFusion does only from integers and booleans. */
const stringText = (call: TrinoCall, arg: ExprTree): string => call.print(arg, { kind: 'utf8' });

const ofFloats =
  (name: string, count = 1): Print =>
  (call) =>
    `${name}(${call.args.map((_, index) => floatText(call, index, count)).join(', ')})`;

/** Functions for which DuckDB and Trino treat infinities and NaN differently. */
const ofFiniteFloats =
  (name: string, count = 1): Print =>
  (call) => {
    if (!call.args.every((arg) => call.isFinite(arg)))
      throw notVerified(`function ${call.name} of values that can be infinite`);
    return ofFloats(name, count)(call);
  };
const ofStrings =
  (name: string, count: number): Print =>
  (call) => {
    argAt(call, 0, count);
    return `${name}(${call.args.map((arg) => stringText(call, arg)).join(', ')})`;
  };

const ofAny =
  (name: string): Print =>
  (call) =>
    `${name}(${call.print(argAt(call, 0, 1))})`;

/** Prints all arguments in the type of the result. */
const unified = (call: TrinoCall): readonly string[] =>
  call.args.map((arg) => call.print(arg, call.type));

function constantAt(call: TrinoCall, index: number): ConstantValue {
  const arg = call.args[index];
  if (arg?.kind === 'constant') return arg.value;
  throw notVerified(
    `function ${call.name} with an argument that is not a constant`,
    'use a constant',
  );
}

function timeText(call: TrinoCall, arg: ExprTree): string {
  if (arg.type.kind !== 'timestamp')
    throw notVerified(`function ${call.name} of the type ${arrowTypeName(arg.type)}`);
  return call.print(arg);
}

function dateBin(call: TrinoCall): string {
  const count = call.args.length === 3 ? 3 : 2;
  const time = argAt(call, 1, count);
  const width = constantAt(call, 0);
  const interval = typeof width === 'string' ? parseInterval(width) : width;
  if (typeof interval !== 'object' || interval === null)
    throw notVerified('a bin width that is not an interval');
  const origin = count === 3 ? constantAt(call, 2) : 0n;
  const originNs = typeof origin === 'string' ? parseTimestamp(origin) : origin;
  if (typeof originNs !== 'bigint') throw notVerified('an origin that is not a timestamp');
  return binText(timeText(call, time), checkStride(interval, 'DATE_BIN'), originNs);
}

function dateTrunc(call: TrinoCall): string {
  const time = argAt(call, 1, 2);
  const part = partOf(String(constantAt(call, 0)));
  const truncation = truncationOf(part);
  if (truncation === undefined) throw notVerified(`the date_trunc granularity ${part}`);
  return binText(timeText(call, time), truncation.stride, truncation.originNs);
}

function datePart(call: TrinoCall): string {
  const time = argAt(call, 1, 2);
  return partText(timeText(call, time), partOf(String(constantAt(call, 0))));
}

/** Trino counts negative positions from the end. */
function substr(call: TrinoCall): string {
  const count = call.args.length === 3 ? 3 : 2;
  const texts = [stringText(call, argAt(call, 0, count))];
  const numbers = [['position', 1n] as const, ['length', 0n] as const];
  for (const [index, [name, least]] of numbers.slice(0, count - 1).entries()) {
    const value = constantAt(call, index + 1);
    if (typeof value !== 'bigint' || value < least) {
      throw notVerified(
        `function substr with the ${name} ${value}`,
        `use a ${name} of at least ${least}`,
      );
    }
    texts.push(String(value));
  }
  return `substr(${texts.join(', ')})`;
}

/** Trino inserts the replacement between all characters if the searched string is empty. */
function replace(call: TrinoCall): string {
  argAt(call, 0, 3);
  const sought = constantAt(call, 1);
  if (typeof sought !== 'string' || sought === '')
    throw notVerified(
      'function replace of an empty string or of NULL',
      'search for a string that is not empty',
    );
  return `replace(${call.args.map((arg) => stringText(call, arg)).join(', ')})`;
}

/** DataFusion removes only spaces. */
const trim =
  (side: string): Print =>
  (call) =>
    `trim(${side} ' ' FROM ${stringText(call, argAt(call, 0, 1))})`;

/** NULL counts as an empty string. */
const concat: Print = (call) => {
  const parts = call.args.map((arg) => `coalesce(${stringText(call, arg)}, '')`);
  return parts.length === 1 ? `${parts[0]}` : `concat(${parts.join(', ')})`;
};

function abs(call: TrinoCall): string {
  const arg = argAt(call, 0, 1);
  return `abs(${call.print(arg, call.type)})`;
}

function power(call: TrinoCall): string {
  if (call.type.kind !== 'float') throw notVerified('function power of integers');
  return ofFiniteFloats('power', 2)(call);
}

/** Averages are computed from doubles. */
const average: TrinoFunction = { kind: 'aggregate', print: ofFloats('avg') };

const ofFiniteArgs = (name: string, count = 1): TrinoFunction => ({
  kind: 'aggregate',
  print: ofFiniteFloats(name, count),
});

function sum(call: TrinoCall): string {
  return `sum(${call.print(argAt(call, 0, 1), call.type)})`;
}

function count(call: TrinoCall): string {
  return call.args.length === 0 ? 'count(*)' : ofAny('count')(call);
}

function shift(call: TrinoCall): string {
  const [value, distance] = call.args;
  if (value === undefined || call.args.length > 2)
    throw notVerified(`function ${call.name} with a default`);
  if (distance === undefined) return `${call.name}(${call.print(value)})`;
  const rows = constantAt(call, 1);
  if (typeof rows !== 'bigint' || rows < 0n)
    throw notVerified(
      `function ${call.name} with the distance ${rows}`,
      'use a distance of at least 0',
    );
  return `${call.name}(${call.print(value)}, ${rows})`;
}

const scalar = (print: Print): TrinoFunction => ({ kind: 'scalar', print });
const aggregate = (print: Print): TrinoFunction => ({ kind: 'aggregate', print });
const windowOnly = (print: Print): TrinoFunction => ({ kind: 'window', print });

const SAME_FLOAT_FUNCTIONS = [
  ...['acos', 'asin', 'atan', 'cbrt', 'ceil', 'cos', 'cosh', 'degrees', 'exp', 'floor', 'ln'],
  ...['log10', 'radians', 'sin', 'sinh', 'sqrt', 'tan', 'tanh'],
];

const SPREADS: readonly (readonly [names: readonly string[], trinoName: string])[] = [
  [['stddev', 'stddev_samp'], 'stddev_samp'],
  [['stddev_pop'], 'stddev_pop'],
  [['var', 'var_samp', 'var_sample'], 'var_samp'],
  [['var_pop', 'var_population'], 'var_pop'],
];

/** The verified functions by name. Tests compare their results with those of DuckDB. */
export const TRINO_FUNCTIONS: ReadonlyMap<string, TrinoFunction> = new Map([
  ['count(*)', aggregate(count)],
  ['count', aggregate(count)],
  ['sum', aggregate(sum)],
  ['avg', average],
  ['mean', average],
  ['min', aggregate(ofAny('min'))],
  ['max', aggregate(ofAny('max'))],
  ['bool_and', aggregate(ofAny('bool_and'))],
  ['bool_or', aggregate(ofAny('bool_or'))],
  ['bit_and', aggregate(ofAny('bitwise_and_agg'))],
  ['bit_or', aggregate(ofAny('bitwise_or_agg'))],
  ['bit_xor', aggregate(ofAny('bitwise_xor_agg'))],
  ...SPREADS.flatMap(([names, trinoName]) =>
    names.map((name) => [name, ofFiniteArgs(trinoName)] as const),
  ),
  ['covar_samp', ofFiniteArgs('covar_samp', 2)],
  ['covar', ofFiniteArgs('covar_samp', 2)],
  ['covar_pop', ofFiniteArgs('covar_pop', 2)],
  ['row_number', windowOnly(() => 'row_number()')],
  ['rank', windowOnly(() => 'rank()')],
  ['dense_rank', windowOnly(() => 'dense_rank()')],
  ['lag', windowOnly(shift)],
  ['lead', windowOnly(shift)],
  ['date_bin', scalar(dateBin)],
  ['date_trunc', scalar(dateTrunc)],
  ['datetrunc', scalar(dateTrunc)],
  ['date_part', scalar(datePart)],
  ['datepart', scalar(datePart)],
  ...SAME_FLOAT_FUNCTIONS.map((name) => [name, scalar(ofFloats(name))] as const),
  ['abs', scalar(abs)],
  ['atan2', scalar(ofFloats('atan2', 2))],
  ['pi', scalar(() => 'pi()')],
  ['power', scalar(power)],
  ['pow', scalar(power)],
  ['round', scalar(ofFloats('round'))],
  ['trunc', scalar(ofFloats('truncate'))],
  ['isnan', scalar(ofFloats('is_nan'))],
  ['iszero', scalar((call) => `(${floatText(call, 0, 1)} = DOUBLE '0')`)],
  ['coalesce', scalar((call) => coalesce(unified(call)))],
  ['nvl', scalar((call) => coalesce(unified(call)))],
  ['ifnull', scalar((call) => coalesce(unified(call)))],
  ['nullif', scalar((call) => `nullif(${unified(call).join(', ')})`)],
  ['character_length', scalar(ofStrings('length', 1))],
  ['char_length', scalar(ofStrings('length', 1))],
  ['length', scalar(ofStrings('length', 1))],
  ['concat', scalar(concat)],
  ['starts_with', scalar(ofStrings('starts_with', 2))],
  ['contains', scalar((call) => `(${ofStrings('strpos', 2)(call)} > 0)`)],
  ['strpos', scalar(ofStrings('strpos', 2))],
  ['instr', scalar(ofStrings('strpos', 2))],
  ['position', scalar(ofStrings('strpos', 2))],
  ['substr', scalar(substr)],
  ['substring', scalar(substr)],
  ['replace', scalar(replace)],
  ['trim', scalar(trim('BOTH'))],
  ['btrim', scalar(trim('BOTH'))],
  ['ltrim', scalar(trim('LEADING'))],
  ['rtrim', scalar(trim('TRAILING'))],
]);

function coalesce(texts: readonly string[]): string {
  return texts.length === 1 ? `${texts[0]}` : `coalesce(${texts.join(', ')})`;
}
