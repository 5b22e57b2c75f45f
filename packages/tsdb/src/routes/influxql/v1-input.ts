import { isUtf8 } from 'node:buffer';
import { acceptedTypes, type HttpRequest } from '@plinth/kernel';
import { parseParameter } from '@plinth/tsdb-influxql/parse/parse-parameter.js';
import type { Parameters as StatementParameters } from '@plinth/tsdb-influxql/plan/reduce.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { TextStyle } from '../formats/cell-text.js';
import {
  jsonTextOf,
  parseJsonObject,
  parseJsonParameter,
  readText,
  readTypedParams,
} from '../query/json-request.js';
import { type Parameters, parseParameters, queryStringOf } from '../query-string.js';
import { multipartFields } from './multipart.js';

/** The parameters of a request to `/query`. */
export interface V1Input {
  readonly text: string;
  readonly database: string | undefined;
  readonly policy: string | undefined;
  /** Nanoseconds per unit of the returned timestamps; `undefined` selects RFC 3339. */
  readonly epochNs: bigint | undefined;
  readonly style: TextStyle;
  readonly isPretty: boolean;
  /** Maximum rows per document of a chunked response; `undefined` if not chunked. */
  readonly documentRows: number | undefined;
  readonly params: StatementParameters;
  readonly format: V1Format;
}

export type V1Format = 'json' | 'csv' | 'msgpack';

const DEFAULT_CHUNK_SIZE = 10_000;

const EPOCHS: ReadonlyMap<string, bigint> = new Map([
  ['n', 1n],
  ['ns', 1n],
  ['u', 1_000n],
  ['us', 1_000n],
  ['µ', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['d', 86_400_000_000_000n],
  ['w', 604_800_000_000_000n],
]);

type Fields = Readonly<Record<string, string | undefined>>;

/** Source: tsdb-http, "v1 query endpoint". */
export function readV1Input(request: HttpRequest, style: TextStyle): V1Input {
  const format = formatOf(request.headers['accept']);
  const queryString = queryStringOf(request.url);
  if (request.method !== 'POST' && queryString === undefined) {
    throw tsdbError('parameter_invalid', "missing query parameters 'db' and 'q'");
  }
  const url = singleValues(parseParameters(queryString ?? ''));
  const { fields, params } =
    request.method === 'POST' ? withBody(url, request) : { fields: url, params: undefined };
  const text = fields['q'];
  if (text === undefined || text === '') {
    throw tsdbError(
      'parameter_invalid',
      'expected a query to be provided in the query string or body',
    );
  }
  const isChunked = readFlag(fields, 'chunked');
  return {
    text,
    database: fields['db'] || undefined,
    policy: fields['rp'] || undefined,
    epochNs: readEpoch(fields['epoch']),
    style,
    isPretty: readFlag(fields, 'pretty'),
    documentRows: isChunked ? readDocumentRows(fields['chunk_size']) : undefined,
    params: params ?? readParamsText(fields['params']),
    format,
  };
}

const readParams = (value: unknown): StatementParameters =>
  readTypedParams(value, (type, text) => {
    const literal = parseParameter(type, text);
    return literal === undefined ? undefined : { literal };
  });

function formatOf(accept: string | undefined): V1Format {
  if (accept === undefined || accept.includes('*/*')) return 'json';
  // Header bytes arrive as one character each.
  if (!isUtf8(Buffer.from(accept, 'latin1'))) {
    throw tsdbError('parameter_invalid', 'Invalid UTF8: mime type is not valid UTF-8');
  }
  for (const { type } of acceptedTypes(accept)) {
    if (type === 'application/json') return 'json';
    if (type === 'application/csv' || type === 'text/csv') return 'csv';
    if (type === 'application/x-msgpack') return 'msgpack';
  }
  throw tsdbError('parameter_invalid', `invalid mime type (${accept})`);
}

function singleValues(parameters: Parameters): Fields {
  const fields: Record<string, string | undefined> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(parameters)) {
    if (Array.isArray(value)) throw decodingFailure(`duplicate field \`${name}\``);
    setSpelled(fields, name, value);
  }
  return fields;
}

/** Sets a parameter. Two aliases of it must have the same value. */
function setSpelled(
  fields: Record<string, string | undefined>,
  name: string,
  value: string | undefined,
): void {
  const known = SPELLINGS[name] ?? name;
  const before = fields[known];
  if (before !== undefined && before !== value) {
    const other = Object.entries(SPELLINGS).find(([, spelled]) => spelled === known)?.[0] ?? known;
    throw tsdbError('conflicting_values', { first: known, second: other });
  }
  fields[known] = value;
}

interface WithBody {
  readonly fields: Fields;
  /** Parameters of a JSON body, whose numbers keep their text. */
  readonly params: StatementParameters | undefined;
}

/** Merges the body into the URL parameters; the body takes precedence. */
function withBody(url: Fields, request: HttpRequest): WithBody {
  const { buffer, byteOffset, byteLength } = request.body;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  // Clients of 1.x send a content type without a body; the query is in the URL.
  if (bytes.length === 0) return { fields: url, params: undefined };
  const contentType = request.headers['content-type'] ?? '';
  const [type = ''] = contentType.split(';');
  switch (type.trim().toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return withForm(url, bytes);
    case 'multipart/form-data':
      return { fields: { ...url, ...multipartFields(bytes, contentType) }, params: undefined };
    case 'application/json':
      return withJson(url, bytes);
    case '':
      // Many clients send a form without declaring it. No statement starts like a form.
      if (FORM.test(bytes.toString('latin1', 0, 16))) return withForm(url, bytes);
      return withText(url, bytes);
    case 'application/vnd.influxql':
      return withText(url, bytes);
    default:
      throw tsdbError('parameter_invalid', `invalid mime type (${contentType})`);
  }
}

const FORM = /^(?:q|db|rp|epoch|chunked|chunk_size|pretty|params|u|p)=/;

const withForm = (url: Fields, bytes: Buffer): WithBody => ({
  fields: { ...url, ...singleValues(parseParameters(bytes.toString())) },
  params: undefined,
});

const withText = (url: Fields, bytes: Buffer): WithBody => ({
  fields: { ...url, q: url['q'] ?? bytes.toString() },
  params: undefined,
});

function withJson(url: Fields, bytes: Buffer): WithBody {
  const body = parseJsonObject(jsonTextOf(bytes));
  const said: Record<string, string | undefined> = {};
  for (const name of ['q', 'query_str', 'db', 'database', 'rp', 'epoch']) {
    const value = readText(body, name);
    if (value !== undefined) setSpelled(said, name, value);
  }
  const fields = { ...url, ...said };
  for (const name of ['chunked', 'pretty', 'chunk_size']) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (value !== undefined && value !== null) fields[name] = scalarText(value);
  }
  const params = Object.hasOwn(body, 'params') ? body['params'] : undefined;
  return {
    fields,
    params: typeof params === 'string' ? readParamsText(params) : readParams(params),
  };
}

const SPELLINGS: Readonly<Record<string, string>> = { query_str: 'q', database: 'db' };

/** Returns the text of a scalar. Numbers of a parsed body are objects that contain their text. */
function scalarText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return String(Object.values(value)[0]);
}

function readEpoch(text: string | undefined): bigint | undefined {
  if (text === undefined || text === '') return undefined;
  const unit = EPOCHS.get(text);
  if (unit !== undefined) return unit;
  throw decodingFailure(
    `unknown variant \`${text}\`, expected one of \`ns\`, \`u\`, \`µ\`, \`ms\`, \`s\`, \`m\`, \`h\`, \`d\`, \`w\``,
  );
}

function readFlag(fields: Fields, name: string): boolean {
  switch (fields[name]?.toLowerCase()) {
    case undefined:
    case '':
    case 'false':
    case 'f':
    case '0':
      return false;
    case 'true':
    case 't':
    case '1':
      return true;
    default:
      throw decodingFailure('provided string was not `true` or `false`');
  }
}

function readDocumentRows(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_CHUNK_SIZE;
  if (!/^\d{1,15}$/.test(text)) throw decodingFailure('invalid digit found in string');
  return Number(text);
}

function decodingFailure(cause: string): TsdbError<'parameter_invalid'> {
  return tsdbError('parameter_invalid', `error decoding params from url: ${cause}`);
}

/** Parses parameters. The Go client of 1.x sends `null` with every query without parameters. */
export function readParamsText(text: string | undefined): StatementParameters {
  const isAbsent = text === undefined || text === '' || text.trim() === 'null';
  return readParams(isAbsent ? undefined : parseJsonParameter(text));
}
