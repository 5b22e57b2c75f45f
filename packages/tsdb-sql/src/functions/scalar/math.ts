import { isNumeric, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { MAX_DIGITS } from '../../bind/types/common-type.js';
import type { BoundExpr, ConstantValue } from '../../bound-expr.js';
import { duckDbType } from '../../emit/duckdb-type.js';
import type { FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  argAt,
  BOOLEAN,
  badArguments,
  expectArgCount,
  FLOAT64,
  floatArg,
  INT64,
  intArg,
  isInteger,
  scalar,
} from '../signature.js';

/**
 * Functions of one float, from SQL name to text. Outside a function's domain DuckDB raises an error
 * but the specification requires NaN, so `plinth_*` macros guard these. Source: query-languages,
 * "Math".
 */
const OF_ONE_FLOAT: Readonly<Record<string, (x: string) => string>> = {
  acos: (x) => `plinth_acos(${x})`,
  acosh: (x) => `plinth_acosh(${x})`,
  asin: (x) => `plinth_asin(${x})`,
  asinh: (x) => `asinh(${x})`,
  atan: (x) => `atan(${x})`,
  atanh: (x) => `plinth_atanh(${x})`,
  cbrt: (x) => `plinth_cbrt(${x})`,
  ceil: (x) => `ceil(${x})`,
  cos: (x) => `plinth_cos(${x})`,
  cosh: (x) => `cosh(${x})`,
  cot: (x) => `(1::DOUBLE / plinth_tan(${x}))`,
  degrees: (x) => `degrees(${x})`,
  exp: (x) => `exp(${x})`,
  floor: (x) => `floor(${x})`,
  ln: (x) => `plinth_ln(${x})`,
  log10: (x) => `plinth_log10(${x})`,
  log2: (x) => `plinth_log2(${x})`,
  radians: (x) => `radians(${x})`,
  signum: (x) => `plinth_signum(${x})`,
  sin: (x) => `plinth_sin(${x})`,
  sinh: (x) => `sinh(${x})`,
  sqrt: (x) => `plinth_sqrt(${x})`,
  tan: (x) => `plinth_tan(${x})`,
  tanh: (x) => `tanh(${x})`,
};

const NAN = "'NaN'::DOUBLE";

export const MATH_MACROS: readonly string[] = [
  ...['acos', 'asin'].map((f) => guard(f, `abs(x) > 1 THEN ${NAN}`)),
  guard('acosh', `x < 1 THEN ${NAN}`),
  guard('atanh', `abs(x) > 1 THEN ${NAN} WHEN abs(x) = 1 THEN x * 'Infinity'::DOUBLE`),
  ...['sin', 'cos', 'tan'].map((f) => guard(f, `isinf(x) THEN ${NAN}`)),
  guard('sqrt', `x < 0 THEN ${NAN}`),
  ...['ln', 'log10', 'log2'].map((f) =>
    guard(f, `x < 0 THEN ${NAN} WHEN x = 0 THEN '-Infinity'::DOUBLE`),
  ),
  // DuckDB rounds NaN to zero if `places` is negative.
  ...['round', 'trunc'].map(
    (f) => `CREATE OR REPLACE MACRO plinth_${f}(x, places) AS
      CASE WHEN places IS NULL THEN NULL WHEN isnan(x) THEN x ELSE ${f}(x, places) END`,
  ),
  // DuckDB's cbrt is off by one digit for integer roots; one step of Newton's method corrects it.
  `CREATE OR REPLACE MACRO plinth_cbrt(x) AS CASE WHEN x = 0 OR isinf(x) OR isnan(x) THEN x
     ELSE cbrt(x) - (cbrt(x) * cbrt(x) * cbrt(x) - x) / (3 * cbrt(x) * cbrt(x)) END`,
  'CREATE OR REPLACE MACRO plinth_signum(x) AS CASE WHEN isnan(x) THEN x ELSE CAST(sign(x) AS DOUBLE) END',
  // Floats are exact up to 2^53. Above that, integers are multiplied one by one, which raises an
  // error on overflow.
  `CREATE OR REPLACE MACRO plinth_int_power(b, e) AS CASE
     WHEN b IS NULL OR e IS NULL THEN NULL
     WHEN e < 0 THEN error('Arrow error: Arithmetic overflow: Exponent ' || e || ' in integer computation is out of bounds.')
     WHEN abs(pow(CAST(b AS DOUBLE), CAST(e AS DOUBLE))) < 9007199254740992
       THEN CAST(pow(CAST(b AS DOUBLE), CAST(e AS DOUBLE)) AS BIGINT)
     ELSE list_reduce(list_transform(range(least(e, 64)), lambda i: CAST(b AS BIGINT)), lambda x, y: x * y) END`,
  `CREATE OR REPLACE MACRO plinth_factorial(x) AS CASE
     WHEN x < 0 THEN error('Execution error: factorial of a negative number is undefined')
     WHEN x > 20 THEN error('Execution error: Overflow happened on FACTORIAL(' || x || ')')
     ELSE CAST(factorial(CAST(x AS INTEGER)) AS BIGINT) END`,
];

export const MATH: readonly FunctionDefinition[] = [
  ...Object.entries(OF_ONE_FLOAT).map(([name, textOf]) =>
    scalar([name], (call) => {
      expectArgCount(call, 1);
      if (name === 'ceil' || name === 'floor') {
        const rounded = roundedDecimal(name, argAt(call, 0), 0n);
        if (rounded !== undefined) return rounded;
      }
      return floatResult(textOf(floatArg(call, 0).text), argAt(call, 0));
    }),
  ),
  scalar(['abs'], (call) => {
    expectArgCount(call, 1);
    const { type } = argAt(call, 0);
    return isNumeric(type)
      ? { text: `abs(${argAt(call, 0).text})`, type }
      : { text: `abs(${floatArg(call, 0).text})`, type: FLOAT64 };
  }),
  scalar(['atan2'], (call) => {
    expectArgCount(call, 2);
    const text = `atan2(${floatArg(call, 0).text}, ${floatArg(call, 1).text})`;
    return floatResult(text, argAt(call, 0), argAt(call, 1));
  }),
  scalar(['factorial'], (call) => {
    expectArgCount(call, 1);
    return { text: `plinth_factorial(${intArg(call, 0).text})`, type: INT64 };
  }),
  ...['gcd', 'lcm'].map((name) =>
    scalar([name], (call) => {
      expectArgCount(call, 2);
      return { text: `${name}(${intArg(call, 0).text}, ${intArg(call, 1).text})`, type: INT64 };
    }),
  ),
  scalar(['isnan'], (call) => {
    expectArgCount(call, 1);
    return { text: `isnan(${floatArg(call, 0).text})`, type: BOOLEAN };
  }),
  scalar(['iszero'], (call) => {
    expectArgCount(call, 1);
    return { text: `(${floatArg(call, 0).text} = 0)`, type: BOOLEAN };
  }),
  scalar(['nanvl'], (call) => {
    expectArgCount(call, 2);
    const [x, fallback] = [floatArg(call, 0).text, floatArg(call, 1).text];
    const text = `CASE WHEN isnan(${x}) THEN ${fallback} ELSE ${x} END`;
    return floatResult(text, argAt(call, 0), argAt(call, 1));
  }),
  scalar(['log'], (call) => {
    expectArgCount(call, 1, 2);
    const place = call.args.length - 1;
    const base = place === 0 ? 10 : argAt(call, 0).constant?.value;
    const x = floatArg(call, place).text;
    // Quotients of natural logarithms are inexact for integer results such as log(10, 1000);
    // DuckDB's own functions are not.
    const text =
      Number(base) === 10
        ? `plinth_log10(${x})`
        : Number(base) === 2
          ? `plinth_log2(${x})`
          : `(plinth_ln(${x}) / plinth_ln(${floatArg(call, 0).text}))`;
    return floatResult(text, argAt(call, place));
  }),
  scalar(['pi'], (call) => {
    expectArgCount(call, 0);
    return { text: 'pi()', type: FLOAT64, constant: { value: Math.PI } };
  }),
  scalar(['power', 'pow'], (call) => {
    expectArgCount(call, 2);
    const isWhole = isInteger(argAt(call, 0).type) && isInteger(argAt(call, 1).type);
    return isWhole
      ? { text: `plinth_int_power(${intArg(call, 0).text}, ${intArg(call, 1).text})`, type: INT64 }
      : { text: `pow(${floatArg(call, 0).text}, ${floatArg(call, 1).text})`, type: FLOAT64 };
  }),
  scalar(['random'], (call) => {
    expectArgCount(call, 0);
    return { text: 'random()', type: FLOAT64 };
  }),
  ...['round', 'trunc'].map((name) =>
    scalar([name], (call) => {
      expectArgCount(call, 1, 2);
      const value = call.args.length === 1 ? 0n : argAt(call, 1).constant?.value;
      const rounded = roundedDecimal(name, argAt(call, 0), value);
      if (rounded !== undefined) return rounded;
      const x = floatArg(call, 0).text;
      if (call.args.length === 1) return floatResult(`${name}(${x})`, argAt(call, 0));
      const places = argAt(call, 1);
      if (!isInteger(places.type) && places.type.kind !== 'null') throw badArguments(call);
      const text = `plinth_${name}(${x}, CAST(${places.text} AS INTEGER))`;
      return floatResult(text, argAt(call, 0));
    }),
  ),
];

/**
 * Rounds a decimal without converting it to a float, which cannot represent all its digits. Returns
 * `undefined` for other types and if the number of places is not constant.
 */
function roundedDecimal(
  name: string,
  { text, type }: BoundExpr,
  value: ConstantValue | undefined,
): FunctionResult | undefined {
  if (type.kind !== 'decimal' || typeof value !== 'bigint') return undefined;
  // No decimal has more digits on either side of the point.
  const places = Math.max(-MAX_DIGITS, Math.min(type.scale, Number(value)));
  const scale = Math.max(0, places);
  // Rounding 95 to tens needs one digit more than 95. DuckDB also returns 0 without this digit.
  const precision = places < 0 ? Math.min(MAX_DIGITS, type.precision + 1) : type.precision;
  const result: SqlType = { kind: 'decimal', precision, scale };
  const x = `CAST(${text} AS ${duckDbType({ ...type, precision })})`;
  const rounded =
    name === 'ceil' || name === 'floor' ? `${name}(${x})` : `${name}(${x}, ${places})`;
  return { text: `CAST(${rounded} AS ${duckDbType(result)})`, type: result };
}

/** Returns Float32 if all arguments are Float32. Source: DataFusion, math functions. */
function floatResult(text: string, ...args: readonly BoundExpr[]): FunctionResult {
  const isSingle = args.every(({ type }) => type.kind === 'float' && type.bits === 32);
  return isSingle
    ? { text: `CAST(${text} AS FLOAT)`, type: { kind: 'float', bits: 32 } }
    : { text, type: FLOAT64 };
}

/** A NULL argument matches no case and reaches the DuckDB function, which returns NULL. */
function guard(duckDbFunction: string, cases: string): string {
  return (
    `CREATE OR REPLACE MACRO plinth_${duckDbFunction}(x) AS ` +
    `CASE WHEN ${cases} ELSE ${duckDbFunction}(x) END`
  );
}
