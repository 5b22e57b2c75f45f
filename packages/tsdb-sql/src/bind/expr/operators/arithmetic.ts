import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { type IntervalValue, isText, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { addMonths, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import { instantOfLocal, offsetNsAt } from '@plinth/tsdb-model/time/time-zone.js';
import type { Constant, ConstantValue } from '../../../bound-expr.js';
import { instantNsText, localNsText } from '../../../functions/time/zone-text.js';
import { type ExprTree, type Lazy, operatorTree } from '../../../plan-tree.js';
import {
  type Bound,
  constantExpr,
  DURATION,
  derive,
  FLOAT64,
  INT64,
  INTERVAL,
  mapped,
  TIMESTAMP,
} from '../../types/bound.js';
import { numericType } from '../../types/common-type.js';
import { plainDigits } from '../../types/plain-digits.js';
import { convert } from '../convert.js';
import { type ArithmeticOp, bindDecimals } from './decimals.js';
import { addIntervals, multiplyInterval, negateInterval } from './intervals.js';

/**
 * Binds an arithmetic operator. Throws `plan_error` for unsupported operand types.
 * Source: query-languages, "Numbers" and "Time".
 */
export function bindArithmetic(left: Bound, op: ArithmeticOp, right: Bound): Bound {
  const displayName = `${left.displayName} ${op} ${right.displayName}`;
  const result = temporal(left, op, right, displayName) ?? numeric(left, op, right, displayName);
  if (result !== undefined) return result;
  throw tsdbError(
    'plan_error',
    `Error during planning: Cannot coerce arithmetic expression ${arrowTypeName(left.type)} ${op} ` +
      `${arrowTypeName(right.type)} to valid types`,
  );
}

function numeric(
  left: Bound,
  op: ArithmeticOp,
  right: Bound,
  displayName: string,
): Bound | undefined {
  const common = numericType(left.type, right.type);
  if (common === undefined) return undefined;
  const folded = foldNumbers(left, op, right, common);
  if (folded !== undefined) return constantExpr(folded, common, displayName);
  const {
    text: typed,
    type,
    right: b,
    tree,
  } = common.kind === 'decimal'
    ? { ...bindDecimals(left, op, right), tree: undefined }
    : bindPlain(left, op, right, common);
  const operands = [...new Set([...nullableParts(left), ...nullableParts(right)])];
  const mayFail = type.kind !== 'float' && (op === '/' || op === '%') && mayBeZero(b);
  // NULL / 0 is NULL.
  const areThere = operands.map((operand) => `${operand} IS NOT NULL`).join(' AND ');
  const text = mayFail ? `plinth_divided(${b.text}, (${areThere || 'true'}), ${typed})` : typed;
  const value = derive(
    [left, right],
    { text, type, displayName, ...(tree && { tree }) },
    { onlyOfNull: true },
  );
  return { ...value, operandsOf: { text: value.text, operands } };
}

/**
 * DuckDB's optimizer moves constants across these operators; for constants of 2^63 or more, one of
 * its assertions fails.
 */
const UNSIGNED_FUNCTIONS: Partial<Record<ArithmeticOp, string>> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
};

function bindPlain(left: Bound, op: ArithmeticOp, right: Bound, type: SqlType) {
  const [a, b] = [convert(left, type), convert(right, type)];
  return { text: plainText(a, op, b, type), type, right: b, tree: operatorTree(op, [a, b], type) };
}

function plainText(a: Bound, op: ArithmeticOp, b: Bound, type: SqlType): string {
  if (type.kind !== 'int') return `(${a.text} ${op} ${b.text})`;
  if (op === '/') return `(${a.text} // ${b.text})`;
  const divisor = b.constant?.value;
  const name = type.signed ? undefined : UNSIGNED_FUNCTIONS[op];
  if (name !== undefined && type.bits === 64) return `${name}(${a.text}, ${b.text})`;
  const mayBeMinusOne = typeof divisor !== 'bigint' || divisor === -1n;
  return op === '%' && mayBeMinusOne
    ? `plinth_modulo(${a.text}, ${b.text})`
    : `(${a.text} ${op} ${b.text})`;
}

function mayBeZero({ constant }: Bound): boolean {
  const value = constant?.value;
  return value === undefined || (value !== null && Number(value) === 0);
}

/**
 * Returns expressions; the result is NULL if and only if one of them is. A long chain lists each of
 * its columns once.
 */
function nullableParts({ text, constant, operandsOf }: Bound): readonly string[] {
  if (constant !== undefined && constant.value !== null) return [];
  return operandsOf?.text === text ? operandsOf.operands : [text];
}

/** Folds constants in bounds, such as `now() - 3 …`; DuckDB computes anything ambiguous. */
function foldNumbers(
  left: Bound,
  op: ArithmeticOp,
  right: Bound,
  type: SqlType,
): ConstantValue | undefined {
  const [a, b] = [left.constant?.value, right.constant?.value];
  if (type.kind === 'int' && typeof a === 'bigint' && typeof b === 'bigint') {
    if (op === '/' || op === '%') return undefined;
    const value = op === '+' ? a + b : op === '-' ? a - b : a * b;
    const fits = type.signed
      ? BigInt.asIntN(type.bits, value) === value
      : BigInt.asUintN(type.bits, value) === value;
    return fits ? value : undefined;
  }
  const areNumbers = [a, b].every((x) => typeof x === 'number' || typeof x === 'bigint');
  if (type.kind !== 'float' || type.bits !== 64 || !areNumbers) return undefined;
  const [x, y] = [Number(a), Number(b)];
  switch (op) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return x / y;
    default:
      return x % y;
  }
}

function temporal(
  left: Bound,
  op: ArithmeticOp,
  right: Bound,
  displayName: string,
): Bound | undefined {
  const [a, b] = [left.type.kind, right.type.kind];
  if (a === 'null' || b === 'null') return absentTemporal(left, op, right, displayName);
  if (b === 'interval' && (a === 'timestamp' || a === 'date') && (op === '+' || op === '-')) {
    return shift(left, op === '-' ? negated(right) : right, displayName);
  }
  if (a === 'interval' && (b === 'timestamp' || b === 'date') && op === '+') {
    return shift(right, left, displayName);
  }
  if (a === 'interval' || b === 'interval') return intervals(left, op, right, displayName);
  if (
    op === '-' &&
    isInstant(left) &&
    isInstant(right) &&
    (a === 'timestamp' || b === 'timestamp')
  ) {
    const [x, y] = [convert(left, TIMESTAMP), convert(right, TIMESTAMP)];
    const text = `(epoch_ns(${x.text}) - epoch_ns(${y.text}))`;
    const tree = operatorTree('-', [x, y], DURATION);
    return derive([left, right], { text, type: DURATION, displayName, tree });
  }
  if (a === 'date' && b === 'date' && op === '-') {
    const text = `(CAST(${left.text} - ${right.text} AS BIGINT) * ${NS_PER_DAY})`;
    return derive([left, right], { text, type: DURATION, displayName });
  }
  if (a === 'date' && right.type.kind === 'int' && (op === '+' || op === '-')) {
    const text = `(${left.text} ${op} CAST(${right.text} AS INTEGER))`;
    return derive([left, right], { text, type: left.type, displayName });
  }
  if (a === 'timestamp' && b === 'duration' && (op === '+' || op === '-')) {
    const text = `make_timestamp_ns(epoch_ns(${left.text}) ${op} ${right.text})`;
    return derive([left, right], { text, type: left.type, displayName });
  }
  if (a === 'duration' && b === 'duration' && (op === '+' || op === '-')) {
    return derive([left, right], {
      text: `(${left.text} ${op} ${right.text})`,
      type: DURATION,
      displayName,
    });
  }
  return undefined;
}

/** Gives NULL the type that makes the operator valid for the other operand. */
function absentTemporal(
  left: Bound,
  op: ArithmeticOp,
  right: Bound,
  displayName: string,
): Bound | undefined {
  const { type } = left.type.kind === 'null' ? right : left;
  if (op !== '+' && op !== '-') return undefined;
  if (type.kind === 'interval' || type.kind === 'duration')
    return constantExpr(null, type, displayName);
  if (type.kind === 'timestamp' && op === '-') return constantExpr(null, DURATION, displayName);
  return undefined;
}

function isInstant({ type, constant }: Bound): boolean {
  return (
    type.kind === 'timestamp' || type.kind === 'date' || (isText(type) && constant !== undefined)
  );
}

/**
 * Adds an interval to a timestamp in nanoseconds; DuckDB's own intervals have only microseconds. A
 * date stays a date, and of the interval's hours, only complete days count.
 * Source: Arrow, `add` of Date32 and intervals.
 */
function shift(time: Bound, interval: Bound, displayName: string): Bound {
  if (time.type.kind !== 'date') return shiftTime(time, interval, displayName);
  const amount = interval.constant?.value;
  const whole = isInterval(amount)
    ? constantExpr({ ...amount, nanos: amount.nanos - (amount.nanos % NS_PER_DAY) }, INTERVAL, '')
    : { ...interval, text: `plinth_whole_days(${interval.text})` };
  const moved = shiftTime(convert(time, TIMESTAMP), whole, displayName);
  return convert(moved, time.type);
}

function shiftTime(start: Bound, interval: Bound, displayName: string): Bound {
  const amount = interval.constant?.value;
  const { type } = start;
  const startNs = start.constant?.value;
  const zone = zoneOf(type);
  if (start.constant && isInterval(amount) && typeof startNs === 'bigint') {
    const recompute = recomputeShift(start.constant.recompute, interval.constant?.recompute, zone);
    return constantExpr(shiftNs(startNs, amount, zone), type, displayName, recompute);
  }
  const ns = `epoch_ns(${start.text})`;
  if (isInterval(amount)) {
    const days = BigInt(amount.days) * NS_PER_DAY;
    const isWallClock = amount.months !== 0 || amount.days !== 0;
    const local = isWallClock ? localNsText(ns, zone) : ns;
    const moved = amount.months === 0 ? local : `plinth_add_months(${local}, ${amount.months})`;
    if (zone === undefined) {
      const shiftedNs = days + amount.nanos;
      const text = `make_timestamp_ns(${moved} + (${shiftedNs})::BIGINT)`;
      const tree = amount.months === 0 ? { tree: shiftTree(start, shiftedNs) } : {};
      return derive([start], { text, type, displayName, ...tree });
    }
    const instant = isWallClock ? instantNsText(`(${moved} + (${days})::BIGINT)`, zone) : moved;
    const text = `make_timestamp_ns(${instant} + (${amount.nanos})::BIGINT)`;
    return derive([start], { text, type, displayName });
  }
  const moved = instantNsText(`plinth_add_days(${localNsText(ns, zone)}, ${interval.text})`, zone);
  const text = `make_timestamp_ns(${moved} + ${interval.text}.nanos)`;
  return derive([start, interval], { text, type, displayName });
}

const shiftTree = (start: Bound, ns: bigint): Lazy<ExprTree> =>
  operatorTree('+', [start, constantExpr(ns, DURATION, '')], start.type);

/** Days and months follow the wall clock of the zone; shorter units do not. */
function zoneOf(type: SqlType): string | undefined {
  return type.kind === 'timestamp' ? type.zone : undefined;
}

function recomputeShift(
  start: Constant['recompute'],
  interval: Constant['recompute'],
  zone: string | undefined,
): Constant['recompute'] {
  if (start === undefined || interval === undefined) return undefined;
  return (values) => {
    const [startNs, amount] = [start(values), interval(values)];
    return typeof startNs === 'bigint' && isInterval(amount)
      ? shiftNs(startNs, amount, zone)
      : undefined;
  };
}

const negatedInterval = (value: ConstantValue) =>
  isInterval(value) ? negateInterval(value) : undefined;

function shiftNs(
  startNs: bigint,
  { months, days, nanos }: IntervalValue,
  zone: string | undefined,
): bigint {
  const isWallClock = zone !== undefined && (months !== 0 || days !== 0);
  const localNs = isWallClock ? startNs + offsetNsAt(zone, startNs) : startNs;
  const moved = (months === 0 ? localNs : addMonths(localNs, months)) + BigInt(days) * NS_PER_DAY;
  const timeNs = (isWallClock ? instantOfLocal(zone, moved) : moved) + nanos;
  if (BigInt.asIntN(64, timeNs) !== timeNs) {
    throw tsdbError(
      'plan_error',
      'Error during planning: Arrow error: Arithmetic overflow: time out of range',
    );
  }
  return timeNs;
}

function intervals(
  left: Bound,
  op: ArithmeticOp,
  right: Bound,
  displayName: string,
): Bound | undefined {
  const [a, b] = [left.constant?.value, right.constant?.value];
  if (isInterval(a) && isInterval(b) && (op === '+' || op === '-')) {
    return constantExpr(addIntervals(a, op === '-' ? negateInterval(b) : b), INTERVAL, displayName);
  }
  if (left.type.kind === right.type.kind && (op === '+' || op === '-')) {
    const added = op === '-' ? negated(right) : right;
    const text = `plinth_add_intervals(${left.text}, ${added.text})`;
    return derive([left, right], { text, type: INTERVAL, displayName });
  }
  if (op === '*' && isInterval(a) && typeof b === 'bigint') {
    return constantExpr(multiplyInterval(a, Number(b)), INTERVAL, displayName);
  }
  if (op === '*' && typeof a === 'bigint' && isInterval(b)) {
    return constantExpr(multiplyInterval(b, Number(a)), INTERVAL, displayName);
  }
  const [interval, count] = left.type.kind === 'interval' ? [left, right] : [right, left];
  if (op === '*' && count.type.kind === 'int') {
    const text = `plinth_multiply_interval(${interval.text}, ${convert(count, INT64).text})`;
    return derive([left, right], { text, type: INTERVAL, displayName });
  }
  return undefined;
}

function isInterval(value: ConstantValue | undefined): value is IntervalValue {
  return typeof value === 'object' && value !== null;
}

function negated(interval: Bound): Bound {
  const value = interval.constant?.value;
  if (isInterval(value)) {
    const recompute = interval.constant && mapped(interval.constant, negatedInterval);
    return constantExpr(negateInterval(value), INTERVAL, interval.displayName, recompute);
  }
  return { ...interval, text: `plinth_negate_interval(${interval.text})` };
}

/** @param isLiteral whether the minus is part of the number in the display name. */
export function bindNegation(operand: Bound, isLiteral: boolean): Bound {
  const value = operand.constant?.value;
  const { type } = operand;
  const displayName = isLiteral
    ? operand.displayName.replace('(', '(-')
    : `(- ${operand.displayName})`;
  const minus = (number: ConstantValue) =>
    typeof number === 'number' || typeof number === 'bigint' ? -number : undefined;
  const recompute = operand.constant && mapped(operand.constant, minus);
  if (typeof value === 'number') return constantExpr(-value, type, displayName, recompute);
  const isUnsigned = type.kind === 'int' && !type.signed;
  if (typeof value === 'bigint' && type.kind === 'int' && (isLiteral || !isUnsigned)) {
    const digits = displayName.replace(/^UInt64/, 'Int64');
    // Larger literals negate to Float64.
    if (-value >= MIN_INT64)
      return constantExpr(-value, isUnsigned ? INT64 : type, digits, recompute);
    return constantExpr(-Number(value), FLOAT64, `Float64(-${plainDigits(Number(value))})`);
  }
  if (type.kind === 'interval') return { ...negated(operand), displayName };
  if (isUnsigned || (numericType(type, type) === undefined && type.kind !== 'duration')) {
    throw tsdbError(
      'plan_error',
      "Error during planning: Unary operator '-' only supports signed numeric, interval and timestamp types",
    );
  }
  const tree = operatorTree('NEGATE', [operand], type);
  return derive([operand], { text: `(-${operand.text})`, type, displayName, tree });
}
