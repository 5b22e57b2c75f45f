import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import {
  isNumeric,
  isText,
  NS_PER_UNIT,
  type SqlType,
  type TimeUnit,
} from '@plinth/tsdb-model/sql-type.js';
import { isTimeZone } from '@plinth/tsdb-model/time/time-zone.js';
import type { BoundExpr } from '../../bound-expr.js';
import { quoteString } from '../../emit/quote.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import { once } from '../lists/list-macros.js';
import {
  argAs,
  argAt,
  badArguments,
  constantText,
  DATE,
  expectArgCount,
  INT64,
  intArg,
  isInteger,
  scalar,
  textArg,
  UTF8,
} from '../signature.js';
import { formatTime } from './chrono-format.js';
import { parseByFormat } from './chrono-parse.js';
import { timeArg } from './time-bins.js';

const MANY = Number.POSITIVE_INFINITY;

/** Conversions to and from timestamps. Source: query-languages, "Time functions". */
export const TIME_CONVERSIONS: readonly FunctionDefinition[] = [
  scalar(['to_timestamp'], (call) => toTimestamp(call, 'ns')),
  scalar(['to_timestamp_seconds'], (call) => toTimestamp(call, 's')),
  scalar(['to_timestamp_millis'], (call) => toTimestamp(call, 'ms')),
  scalar(['to_timestamp_micros'], (call) => toTimestamp(call, 'us')),
  scalar(['to_timestamp_nanos'], (call) => toTimestamp(call, 'ns')),
  scalar(['to_unixtime'], bindToUnixtime),
  scalar(['from_unixtime'], bindFromUnixtime),
  scalar(['to_date'], bindToDate),
  scalar(['make_date'], bindMakeDate),
  scalar(['to_char', 'date_format'], bindToChar),
];

export const TIME_CONVERSION_MACROS: readonly string[] = [
  // DuckDB rejects TRY over expressions that may fail or are volatile; the result of `once` is
  // neither.
  `CREATE OR REPLACE MACRO plinth_make_date(y, m, d) AS ${once(
    ['y', 'm', 'd'],
    `CASE WHEN q.y IS NULL OR q.m IS NULL OR q.d IS NULL THEN NULL
     WHEN q.m NOT BETWEEN 1 AND 12 THEN error('Execution error: Month value ''' || q.m || ''' is out of range')
     WHEN q.d NOT BETWEEN 1 AND 31 THEN error('Execution error: Day value ''' || q.d || ''' is out of range')
     ELSE coalesce(try(make_date(CAST(q.y AS INTEGER), CAST(q.m AS INTEGER), CAST(q.d AS INTEGER))),
       error('Execution error: Unable to parse date from ' || q.y || ', ' || q.m || ', ' || q.d)) END`,
  )}`,
  // Truncates toward zero, like the cast between units.
  'CREATE OR REPLACE MACRO plinth_whole_units(ns, unit) AS ns - ns % unit',
];

function toTimestamp(call: FunctionCall, unit: TimeUnit): FunctionResult {
  expectArgCount(call, 1, MANY);
  const arg = argAt(call, 0);
  const type: SqlType = { kind: 'timestamp', unit, zone: undefined };
  const perUnit = NS_PER_UNIT[unit];
  if (isInteger(arg.type)) {
    if (arg.type.kind === 'int' && !arg.type.signed) throw unsupported(call, arg.type);
    const whole = call.coerce(arg, INT64);
    return fold(type, whole, `${whole.text} * ${perUnit}`, (value) => value * perUnit);
  }
  if (call.args.length > 1 && isText(arg.type)) {
    const parsed = parseFormats(call);
    return fold(type, parsed, wholeUnits(parsed.text, perUnit), (ns) => ns - (ns % perUnit));
  }
  if (!['timestamp', 'date', 'utf8', 'tag', 'null'].includes(arg.type.kind)) {
    throw unsupported(call, arg.type);
  }
  const time = timeArg(call, 0);
  if (perUnit === 1n) return { ...constantOf(time), text: time.text, type };
  const ns = wholeUnits(`epoch_ns(${time.text})`, perUnit);
  return fold(type, time, ns, (value) => value - (value % perUnit));
}

/** Creates a timestamp from BIGINT nanoseconds, folded if the source is a constant. */
function fold(
  type: SqlType,
  source: Pick<BoundExpr, 'constant'>,
  nsText: string,
  convert: (value: bigint) => bigint,
): FunctionResult {
  const value = source.constant?.value;
  const text = `make_timestamp_ns(${nsText})`;
  if (typeof value !== 'bigint')
    return { text, type, ...(value === null && { constant: { value } }) };
  const ns = convert(value);
  if (BigInt.asIntN(64, ns) !== ns) {
    throw tsdbError(
      'plan_error',
      `Arrow error: Arithmetic overflow: Overflow happened on: ${value}`,
    );
  }
  return { text, type, constant: { value: ns } };
}

const constantOf = (expr: BoundExpr) =>
  expr.constant === undefined ? {} : { constant: expr.constant };

const wholeUnits = (nsText: string, perUnit: bigint) =>
  perUnit === 1n ? nsText : `plinth_whole_units(${nsText}, ${perUnit})`;

/** Parses the first argument with the formats that follow it, in order, to BIGINT nanoseconds. */
function parseFormats(call: FunctionCall): Pick<BoundExpr, 'text' | 'constant'> {
  const texts = call.args.map((_, index) => textArg(call, index));
  const values = texts.map((text) => text.constant?.value);
  const call_ = `plinth_parse_time(${texts.map((text) => text.text).join(', ')})`;
  if (values.every((value) => typeof value === 'string')) {
    const [text = '', ...formats] = values;
    return { text: call_, constant: { value: parseByFormats(text, formats) } };
  }
  return { text: call_ };
}

/**
 * Maximum length of a parsed text and its format, because each format item may read the complete
 * text.
 */
const MAX_TIME_LENGTH = 1024;

/**
 * Parses a timestamp with the first format that matches. If none matches, throws `execution_error`
 * with the problem of the last one.
 */
export function parseByFormats(text: string, formats: readonly string[]): bigint {
  const longest = Math.max(text.length, ...formats.map(({ length }) => length));
  if (longest > MAX_TIME_LENGTH) {
    throw tsdbError(
      'execution_error',
      `Resources exhausted: a timestamp or format has ${longest} characters; the maximum is ${MAX_TIME_LENGTH}`,
    );
  }
  let message = '';
  for (const format of formats) {
    const parsed = parseByFormat(text, format);
    if ('timeNs' in parsed) return parsed.timeNs;
    message = `Execution error: Error parsing timestamp from '${text}' using format '${format}': ${parsed.problem}`;
  }
  throw tsdbError('execution_error', message);
}

function unsupported(call: FunctionCall, type: SqlType): TsdbError<'plan_error'> {
  return tsdbError(
    'plan_error',
    `Execution error: Unsupported data type ${arrowTypeName(type)} for function ${call.name}`,
  );
}

function bindToUnixtime(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1, MANY);
  const arg = argAt(call, 0);
  if (isNumeric(arg.type)) return { text: intArg(call, 0).text, type: INT64 };
  const ns =
    call.args.length > 1 && isText(arg.type)
      ? parseFormats(call).text
      : `epoch_ns(${timeArg(call, 0).text})`;
  return { text: `(${ns} // 1000000000)`, type: INT64 };
}

function bindFromUnixtime(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1, 2);
  const seconds = argAs(call, 0, INT64, isInteger);
  const zone = call.args.length > 1 ? constantText(call, 1, 'its second argument') : undefined;
  if (zone !== undefined && !isTimeZone(zone)) {
    throw tsdbError(
      'plan_error',
      `Parser error: Invalid timezone "${zone}": failed to parse timezone`,
    );
  }
  const type: SqlType = { kind: 'timestamp', unit: 's', zone };
  return fold(type, seconds, `${seconds.text} * 1000000000`, (value) => value * 1_000_000_000n);
}

function bindToDate(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1, MANY);
  const arg = argAt(call, 0);
  if (isInteger(arg.type)) {
    return { text: `(DATE '1970-01-01' + CAST(${arg.text} AS INTEGER))`, type: DATE };
  }
  if (call.args.length > 1 && isText(arg.type)) {
    return { text: `plinth_date(${parseFormats(call).text})`, type: DATE };
  }
  if (!['timestamp', 'date', 'utf8', 'tag', 'null'].includes(arg.type.kind)) {
    throw unsupported(call, arg.type);
  }
  return call.coerce(arg, DATE);
}

function bindMakeDate(call: FunctionCall): FunctionResult {
  expectArgCount(call, 3);
  const parts = [0, 1, 2].map((index) => intArg(call, index).text);
  return { text: `plinth_make_date(${parts.join(', ')})`, type: DATE };
}

/** chrono specifiers for which DuckDB has an equivalent. */
const ENGINE_SPECIFIERS: Readonly<Record<string, string>> = {
  ...{ '%': '%%', Y: '%Y', m: '%m', d: '%d', H: '%H', M: '%M', S: '%S', j: '%j', y: '%y' },
  ...{ a: '%a', A: '%A', b: '%b', h: '%b', B: '%B', p: '%p', I: '%I' },
  ...{ F: '%Y-%m-%d', T: '%H:%M:%S', X: '%H:%M:%S', R: '%H:%M', D: '%m/%d/%y', x: '%m/%d/%y' },
};
const MAX_ENGINE_FORMAT = 256;

/**
 * Returns the equivalent DuckDB format, which runs in DuckDB's threads, or `undefined` if an item
 * needs the main thread.
 */
function duckDbFormat(format: string): string | undefined {
  if (format.length > MAX_ENGINE_FORMAT || format.includes('\0')) return undefined;
  let text = '';
  for (let at = 0; at < format.length; at++) {
    const letter = format.charAt(at);
    const written = letter === '%' ? ENGINE_SPECIFIERS[format.charAt(++at)] : letter;
    if (written === undefined) return undefined;
    text += written;
  }
  return text;
}

function bindToChar(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2);
  const arg = argAt(call, 0);
  const format = textArg(call, 1);
  if (arg.type.kind === 'time') {
    return { text: `plinth_to_char(${arg.text}, ${format.text}, '')`, type: UTF8 };
  }
  if (isNumeric(arg.type) || arg.type.kind === 'boolean') throw badArguments(call);
  const time = timeArg(call, 0);
  const zone = time.type.kind === 'timestamp' ? time.type.zone : undefined;
  const [value, formatValue] = [time.constant?.value, format.constant?.value];
  const ofDuckDb =
    zone === undefined && typeof formatValue === 'string' ? duckDbFormat(formatValue) : undefined;
  const ns = `epoch_ns(${time.text})`;
  const text =
    ofDuckDb === undefined
      ? `plinth_to_char(${ns}, ${format.text}, ${quoteString(zone ?? '')})`
      : // Rounds down to seconds, also before 1970; these formats contain no fraction.
        `strftime(make_timestamp((${ns} - (${ns} % 1000000000 + 1000000000) % 1000000000) // 1000), ${quoteString(ofDuckDb)})`;
  if (typeof formatValue !== 'string') return { text, type: UTF8 };
  const sample = formatTime(typeof value === 'bigint' ? value : 0n, formatValue, zone);
  if (sample === undefined) {
    throw tsdbError('plan_error', `Execution error: Invalid format string: '${formatValue}'`);
  }
  return { text, type: UTF8, ...(typeof value === 'bigint' && { constant: { value: sample } }) };
}
