import { isObject } from '@plinth/kernel';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import { replaceNumbers } from '@plinth/tsdb-model/text/json-numbers.js';

/** One response of Trino. Source: Trino documentation, "Client protocol", "QueryResults attributes". */
export interface TrinoPage {
  /** Address of the next page; absent on the last one. */
  readonly nextUri: string | undefined;
  readonly rows: readonly (readonly unknown[])[];
  readonly error: TrinoError | undefined;
}

export interface TrinoError {
  readonly message: string;
  /** Such as `DIVISION_BY_ZERO`. */
  readonly name: string;
  readonly queryId: string;
  readonly type: string;
}

/** `JSON.parse` keeps integers of this many digits. */
const EXACT_DIGITS = 15;

/** Reads a page. Integers that a number cannot represent are strings. Throws `query_failed`. */
export function parsePage(
  body: Uint8Array,
  { columnCount, origin }: { readonly columnCount: number; readonly origin: string },
): TrinoPage {
  const page = parseObject(body);
  const { nextUri, data, error, id } = page;
  if (nextUri !== undefined && !isAt(nextUri, origin))
    throw invalidResponse('nextUri is not an address of the endpoint');
  if (error !== undefined) return { nextUri: undefined, rows: [], error: errorOf(error, id) };
  if (data === undefined || data === null) return { nextUri, rows: [], error: undefined };
  const isTable =
    Array.isArray(data) && data.every((row) => Array.isArray(row) && row.length === columnCount);
  if (!isTable) throw invalidResponse(`data has no rows of ${columnCount} columns`);
  return { nextUri, rows: data, error: undefined };
}

export const invalidResponse = (why: string): TsdbError<'query_failed'> =>
  tsdbError('query_failed', `Trino sent an invalid response: ${why}`);

function parseObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
    const page: unknown = JSON.parse(replaceNumbers(text, exact));
    if (isObject(page)) return page;
  } catch {
    // The same error as for other JSON values.
  }
  throw invalidResponse('not a JSON object');
}

const exact = (token: string): string =>
  token.length > EXACT_DIGITS && /^-?\d+$/.test(token) ? `"${token}"` : token;

/** Other addresses would receive the credentials. */
function isAt(uri: unknown, origin: string): uri is string {
  return typeof uri === 'string' && URL.canParse(uri) && new URL(uri).origin === origin;
}

function errorOf(error: unknown, queryId: unknown): TrinoError {
  const { message, errorType, errorName } = isObject(error) ? error : {};
  return {
    name: isWord(errorName) ? errorName : 'unknown error',
    queryId: isWord(queryId) ? queryId : '(unknown)',
    message: typeof message === 'string' ? message : 'unknown error',
    type: typeof errorType === 'string' ? errorType : '',
  };
}

const isWord = (value: unknown): value is string =>
  typeof value === 'string' && /^\w{1,100}$/.test(value);

/** Maximum length of a message, which may contain a row value. */
const MAX_MESSAGE_LENGTH = 1000;

/**
 * Returns the error for the client. Messages of internal and external errors can contain addresses
 * and paths of the cluster. Source: Trino, `io.trino.spi.ErrorType`.
 */
export function toQueryError({ message, type, name, queryId }: TrinoError): TsdbError {
  const text = `Trino: ${message.slice(0, MAX_MESSAGE_LENGTH)}`;
  switch (type) {
    case 'USER_ERROR':
      return tsdbError('execution_error', text);
    case 'INSUFFICIENT_RESOURCES':
      return tsdbError('query_out_of_memory', text);
    default:
      return tsdbError('query_failed', `Trino: ${name} in query ${queryId}`);
  }
}
