import { parse } from 'node:querystring';
import { Memo } from '@plinth/kernel';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';

/** Number of cached query strings. Clients send the same one with every request. */
const MAX_CACHED_COUNT = 1024;
/** Longer query strings are not cached. */
const MAX_CACHED_LENGTH = 512;

export type Parameters = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the part of a request target after `?`; `undefined` without a `?`. */
export function queryStringOf(target: string): string | undefined {
  const start = target.indexOf('?');
  return start === -1 ? undefined : target.slice(start + 1);
}

/** Decodes percent escapes and `+`. Invalid escapes stay unchanged. */
export function parseParameters(queryString: string): Parameters {
  return parse(queryString);
}

/**
 * Returns the value of a parameter that has several aliases.
 * @throws `conflicting_values` if two aliases differ, `parameter_invalid` if one is repeated.
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

/** @throws `conflicting_values` if two aliases differ. */
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

/** Source: tsdb-http, "Transport and common behavior", booleans in query strings. */
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

/** Returns the retention policy of a request; an empty one counts as absent. */
export function readPolicy(parameters: Parameters): string | undefined {
  return readParameter(parameters, ['rp']) || undefined;
}

/** Caches the results of `read` by query string. Errors are not cached. */
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
 * Refuses a retention policy (`rp`) on routes that ignore it. Otherwise, the request would affect
 * the wrong policy.
 * Throws `parameter_invalid`.
 */
export function refusePolicy(policy: string | undefined, databaseName: string): void {
  if (!policy) return;
  throw tsdbError(
    'parameter_invalid',
    `'rp' is not supported by this endpoint; specify the retention policy in '${databaseName}', as in ${databaseName}=mydb/${policy}`,
  );
}
