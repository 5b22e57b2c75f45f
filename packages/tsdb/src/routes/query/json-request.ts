import { isObject, JsonExcessive, messageOf, refuseExcessiveJson } from '@plinth/kernel';
import { MAX_UINT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import { replaceNumbers } from '@plinth/tsdb-model/text/json-numbers.js';

/** A number with its original text, because `1` and `1.0` have different types. */
interface NumberText {
  readonly '\u0000number': string;
}

const NUMBER_KEY = '\u0000number';

export function jsonError(text: string): TsdbError<'parameter_invalid'> {
  return tsdbError('parameter_invalid', `serde json error: ${text}`);
}

/**
 * Limit of values per body, far above real statements, because each parameter costs the main thread
 * several microseconds.
 */
const MAX_VALUE_COUNT = 20_000;

const UTF8_DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the text of a JSON body. Invalid UTF-8, deep nesting and too many values are refused. */
export function jsonTextOf(bytes: Uint8Array): string {
  try {
    refuseExcessiveJson(bytes, { maxValueCount: MAX_VALUE_COUNT });
    return UTF8_DECODER.decode(bytes);
  } catch (error) {
    if (!(error instanceof JsonExcessive)) throw jsonError('invalid unicode code point');
    throw jsonError(error.reason === 'too_deep' ? 'recursion limit exceeded' : error.message);
  }
}

/** Parses a JSON object in a URL parameter, form field or ticket. */
export const parseJsonParameter = (text: string): Readonly<Record<string, unknown>> =>
  parseJsonObject(jsonTextOf(Buffer.from(text)));

/**
 * Parses a JSON object that `jsonTextOf` accepted. Numbers keep their text (see
 * `toParameterValue`).
 */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) {
      return JSON.parse(replaceNumbers(text, mark)) as Readonly<Record<string, unknown>>; // still an object; only its numbers differ from `value`
    }
  } catch (error) {
    throw jsonError(messageOf(error));
  }
  throw jsonError('expected a JSON object');
}

const mark = (token: string): string => `{"\\u0000number":"${token}"}`;

/** Returns the text of a number that `parseJsonObject` read; `undefined` for all other values. */
export function numberTextOf(value: unknown): string | undefined {
  return isNumberText(value) ? value[NUMBER_KEY] : undefined;
}

/**
 * Reads placeholder values: integers are 64-bit integers, other numbers doubles.
 * Source: tsdb-http, "Parameter binding".
 */
export function readParams(value: unknown): ReadonlyMap<string, ParameterValue> {
  return readParamsAs(value, toParameterValue);
}

/** Like `readParams`, with additional types for values that are objects. */
export function readTypedParams<T>(
  value: unknown,
  typed: (type: string, text: string) => T | undefined,
): ReadonlyMap<string, ParameterValue | T> {
  return readParamsAs(value, (item) => {
    if (!isObject(item) || isNumberText(item)) return toParameterValue(item);
    const [[type = '', inner] = []] = Object.entries(item);
    const text = isNumberText(inner) ? inner[NUMBER_KEY] : String(inner);
    const found = Object.keys(item).length === 1 ? typed(type, text) : undefined;
    if (found === undefined) throw jsonError(`invalid query parameter of type '${type}'`);
    return found;
  });
}

function readParamsAs<T>(value: unknown, convert: (item: unknown) => T): ReadonlyMap<string, T> {
  const params = new Map<string, T>();
  if (value === undefined || value === null) return params;
  if (!isObject(value) || isNumberText(value)) {
    throw jsonError('invalid type for field `params`, expected a map');
  }
  for (const [name, item] of Object.entries(value)) params.set(name, convert(item));
  return params;
}

/** Reads a string field; other types are not coerced. */
export function readText(
  body: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') {
    throw jsonError(`invalid type for field \`${name}\`, expected a string`);
  }
  return value;
}

function toParameterValue(value: unknown): ParameterValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (isNumberText(value)) return toNumber(value[NUMBER_KEY]);
  const kind = Array.isArray(value) ? 'arrays' : 'objects';
  throw jsonError(
    `JSON ${kind} are not supported as query parameters. Expected null, boolean, number, or string.`,
  );
}

function toNumber(text: string): number | bigint {
  if (!Number.isFinite(Number(text))) throw jsonError('number out of range');
  if (!/^-?\d+$/.test(text)) return Number(text);
  const whole = BigInt(text);
  return whole < MIN_INT64 || whole > MAX_UINT64 ? Number(text) : whole;
}

function isNumberText(value: unknown): value is NumberText {
  return isObject(value) && Object.hasOwn(value, NUMBER_KEY);
}
