import { parse } from 'node:querystring';
import { Memo } from '@plinth/kernel';
import { type TsdbError, tsdbError } from '../errors.js';

/** Distinct query strings that are remembered: clients send the same one with every request. */
const MAX_CACHED_COUNT = 1024;
/** Longer ones are not worth the memory. */
const MAX_CACHED_LENGTH = 512;

export type Parameters = Readonly<Record<string, string | string[] | undefined>>;

/** The part of a request target behind `?`; `undefined` when there is no `?`. */
export function queryStringOf(target: string): string | undefined {
  const start = target.indexOf('?');
  return start === -1 ? undefined : target.slice(start + 1);
}

/** Percent escapes and `+` are decoded; what is no valid escape stands for itself. */
export function parseParameters(queryString: string): Parameters {
  return parse(queryString);
}

/**
 * Value of a parameter that may be spelled in several ways.
 * @throws `conflicting_values` when two spellings disagree, `parameter_invalid` when one is repeated.
 */
export function readParameter(
  parameters: Parameters,
  spellings: readonly string[],
  failure: (text: string) => TsdbError = serdeError,
): string | undefined {
  return readSpelled(spellings, (name) => {
    const value = parameters[name];
    if (Array.isArray(value)) throw failure(`duplicate field \`${name}\``);
    return value;
  });
}

/** @throws `conflicting_values` when two spellings disagree. */
export function readSpelled(
  spellings: readonly string[],
  textOf: (name: string) => string | undefined,
): string | undefined {
  let found: { readonly name: string; readonly value: string } | undefined;
  for (const name of spellings) {
    const value = textOf(name);
    if (value === undefined) continue;
    if (found !== undefined && found.value !== value) {
      throw tsdbError('conflicting_values', { first: found.name, second: name });
    }
    found ??= { name, value };
  }
  return found?.value;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['t', true],
  ['1', true],
  ['false', false],
  ['f', false],
  ['0', false],
]);

/** Source: tsdb-http, "Transport and common behaviour", booleans in query strings. */
export function readBoolean(
  parameters: Parameters,
  name: string,
  failure: (text: string) => TsdbError = serdeError,
): boolean | undefined {
  const text = readParameter(parameters, [name], failure);
  if (text === undefined) return undefined;
  const value = BOOLEANS.get(text.length === 1 ? text.toLowerCase() : text);
  if (value !== undefined) return value;
  throw failure('provided string was not `true` or `false`');
}

export function serdeError(text: string): TsdbError<'parameter_invalid'> {
  return tsdbError('parameter_invalid', `serde error: ${text}`);
}

/** The retention policy that a request names; an empty one counts as none. */
export function readPolicy(parameters: Parameters): string | undefined {
  return readParameter(parameters, ['rp']) || undefined;
}

/** Remembers what `read` made of a query string; failures are not remembered. */
export function cachedByQueryString<T extends object>(
  read: (queryString: string) => T,
): (text: string) => T {
  const cache = new Memo<string, T>({ maxCount: MAX_CACHED_COUNT });
  return (queryString) => {
    const known = cache.get(queryString);
    if (known !== undefined) return known;
    const value = read(queryString);
    if (queryString.length <= MAX_CACHED_LENGTH) cache.set(queryString, value);
    return value;
  };
}

/**
 * Refuses a retention policy (`rp`) where it is not read: the statement or the rows would concern another policy than the client means.
 * Throws `parameter_invalid`.
 */
export function refusePolicy(policy: string | undefined, databaseName: string): void {
  if (!policy) return;
  throw tsdbError(
    'parameter_invalid',
    `rp is not supported by this endpoint; name the retention policy in ${databaseName}, as in ${databaseName}=mydb/${policy}`,
  );
}
