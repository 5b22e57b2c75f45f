import type { HttpRequest } from '@plinth/kernel';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { FormatName } from '../formats/index.js';
import {
  parseParameters,
  queryStringOf,
  readParameter,
  readPolicy,
  readSpelled,
  refusePolicy,
  serdeError,
} from '../query-string.js';
import {
  jsonError,
  jsonTextOf,
  parseJsonObject,
  parseJsonParameter,
  readParams,
  readText,
} from './json-request.js';
import {
  formatOfAccept,
  formatOfName,
  type RequestedFormat,
  resolveFormat,
} from './result-format.js';

/** The parameters of a native query request. */
export interface QueryInput {
  readonly database: string;
  readonly text: string;
  readonly format: FormatName;
  readonly params: ReadonlyMap<string, ParameterValue>;
  /** `undefined`: the server chooses it. */
  readonly engine?: EngineName | undefined;
}

/** Where a SQL query runs: on this server, or on Trino. */
const ENGINES = ['duckdb', 'trino'] as const;
type EngineName = (typeof ENGINES)[number];

const DATABASE_NAMES = ['db', 'database'];
const TEXT_NAMES = ['q', 'query_str'];

/** Source: tsdb-http, "Parameters" and "Failures" of the native query endpoints. */
export function readQueryInput(request: HttpRequest, isInfluxdb3: boolean): QueryInput {
  const accepted = formatOfAccept(request.headers['accept']);
  const input = request.method === 'POST' ? readFromBody(request) : readFromUrl(request);
  const { requested, policy, engineName, ...rest } = input;
  if (!isInfluxdb3) refusePolicy(policy() ?? policyOfPostUrl(request), 'db');
  return {
    ...rest,
    engine: engineOf(engineName()),
    format: resolveFormat(requested ?? accepted, isInfluxdb3),
  };
}

function engineOf(name: string | undefined): EngineName | undefined {
  const engine = ENGINES.find((known) => known === name);
  if (engine !== undefined || name === undefined) return engine;
  throw tsdbError('parameter_invalid', `unknown engine "${name}"; use ${ENGINES.join(' or ')}`);
}

/** Reads the parameters for InfluxQL. The statement may name the database, and `rp` the retention policy. */
export function readInfluxqlInput(
  request: HttpRequest,
  isInfluxdb3: boolean,
): Omit<QueryInput, 'database'> & {
  readonly database: string | undefined;
  readonly policy: string | undefined;
} {
  const accepted = formatOfAccept(request.headers['accept']);
  const input =
    request.method === 'POST' ? readFromBody(request, false) : readFromUrl(request, false);
  const { requested, database, policy, engineName, ...rest } = input;
  if (engineOf(engineName()) === 'trino')
    throw tsdbError('parameter_invalid', 'engine=trino runs only SQL; omit engine for InfluxQL');
  return {
    ...rest,
    policy: policy(),
    database: database === '' ? undefined : database,
    format: resolveFormat(requested ?? accepted, isInfluxdb3),
  };
}

/** Returns the retention policy in the URL of a POST request, which ignores its other URL parameters. */
function policyOfPostUrl({ method, url }: HttpRequest): string | undefined {
  const queryString = method === 'POST' ? queryStringOf(url) : undefined;
  return queryString === undefined ? undefined : readPolicy(parseParameters(queryString));
}

type RawInput = Omit<QueryInput, 'format' | 'engine'> & {
  readonly requested: RequestedFormat | undefined;
  /** Reads the retention policy. Throws like the other parameters. */
  readonly policy: () => string | undefined;
  readonly engineName: () => string | undefined;
};

/** Reads the parameters of a GET request. */
export function readFromUrl(request: HttpRequest, needsDatabase = true): RawInput {
  const queryString = queryStringOf(request.url);
  if (queryString === undefined) {
    throw tsdbError('parameter_invalid', "missing query parameters 'db' and 'q'");
  }
  const parameters = parseParameters(queryString);
  const database = readParameter(parameters, DATABASE_NAMES);
  const text = readParameter(parameters, TEXT_NAMES);
  const format = readParameter(parameters, ['format']);
  const params = readParameter(parameters, ['params']);
  return {
    database: needsDatabase ? required(database, 'db', serdeError) : (database ?? ''),
    text: required(text, 'q', serdeError),
    requested: format === undefined ? undefined : formatOfName(format),
    params: readParams(params === undefined ? undefined : parseJsonParameter(params)),
    policy: () => readPolicy(parameters),
    engineName: () => readParameter(parameters, ['engine']),
  };
}

function readFromBody({ body: bytes }: HttpRequest, needsDatabase = true): RawInput {
  if (bytes.length === 0) throw jsonError('EOF while parsing a value at line 1 column 0');
  const body = parseJsonObject(jsonTextOf(bytes));
  const textOf = (name: string): string | undefined => readText(body, name);
  const format = textOf('format');
  const database = readSpelled(DATABASE_NAMES, textOf);
  return {
    database: needsDatabase ? required(database, 'db', jsonError) : (database ?? ''),
    text: required(readSpelled(TEXT_NAMES, textOf), 'q', jsonError),
    requested: format === undefined ? undefined : formatOfName(format, jsonError),
    params: readParams(Object.hasOwn(body, 'params') ? body['params'] : undefined),
    policy: () => textOf('rp') || undefined,
    engineName: () => textOf('engine'),
  };
}

function required(
  value: string | undefined,
  name: string,
  failure: (text: string) => TsdbError,
): string {
  if (value === undefined) throw failure(`missing field \`${name}\``);
  return value;
}
