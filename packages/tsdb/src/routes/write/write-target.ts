import { toAsciiLowerCase } from '@plinth/kernel';
import { policyDatabase } from '@plinth/tsdb-influxql/plan/compile/find-sources.js';
import {
  databaseOfPolicy,
  findDatabaseNameFault,
  findLegacyDatabaseNameFault,
  INTERNAL_DATABASE,
} from '@plinth/tsdb-model/database/names.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Precision } from '@plinth/tsdb-model/parsed-body.js';
import {
  type Parameters,
  parseParameters,
  readBoolean,
  readParameter,
  readPolicy,
  refusePolicy,
} from '../query-string.js';

/** Target and options of a write, read only from its query string. */
export interface WriteTarget {
  readonly database: string;
  /**
   * The same with the letter case of `rp`, if that differs. A policy with exactly this name is
   * preferred.
   */
  readonly exactDatabase: string | undefined;
  /** True if no retention policy is named, so that the database's default applies. */
  readonly isDefaultPolicy: boolean;
  readonly precision: Precision;
  readonly acceptPartial: boolean;
  readonly noSync: boolean;
}

export type WriteApi = 'native' | 'v1' | 'v2';

interface ApiRules {
  /** Error for a request without a query string. */
  readonly noQueryString: string;
  /** Error for a request without a target. */
  readonly noTarget: string;
  /** Prefix of errors about single parameters. */
  readonly failurePrefix: string;
  readonly targetNames: readonly string[];
  readonly precisions: ReadonlyMap<string, Precision>;
  readonly precisionNames: string;
  readonly defaultPrecision: Precision;
}

const UNITS: readonly (readonly [string, Precision])[] = [
  ['second', 'second'],
  ['s', 'second'],
  ['millisecond', 'millisecond'],
  ['ms', 'millisecond'],
  ['microsecond', 'microsecond'],
  ['us', 'microsecond'],
  ['u', 'microsecond'],
  ['nanosecond', 'nanosecond'],
  ['ns', 'nanosecond'],
  ['n', 'nanosecond'],
];

const V1_PREFIX = 'failed to deserialize db/rp/precision in request: ';
const LEGACY_PRECISION_NAMES = '`s`, `ms`, `us`, `ns`';

/** Source: tsdb-http, "Parameter rules" and "Request-level failures". */
export const RULES: Readonly<Record<WriteApi, ApiRules>> = {
  native: {
    noQueryString: "missing query parameter 'db'",
    noTarget: 'serde error: missing field `db`',
    failurePrefix: 'serde error: ',
    targetNames: ['db', 'database'],
    precisions: new Map([['auto', 'auto'], ...UNITS]),
    precisionNames: '`auto`, `second`, `millisecond`, `microsecond`, `nanosecond`',
    defaultPrecision: 'auto',
  },
  v1: {
    noQueryString: 'no db destination provided',
    noTarget: `${V1_PREFIX}missing field \`db\``,
    failurePrefix: V1_PREFIX,
    targetNames: ['db', 'database'],
    precisions: new Map([...UNITS, ['m', 'minute'], ['h', 'hour']]),
    precisionNames: LEGACY_PRECISION_NAMES,
    defaultPrecision: 'nanosecond',
  },
  v2: {
    noQueryString: 'no org/bucket destination provided',
    noTarget: 'missing bucket value',
    failurePrefix: 'failed to deserialize org/bucket/precision in request: ',
    targetNames: ['bucket', 'db'],
    precisions: new Map(UNITS),
    precisionNames: LEGACY_PRECISION_NAMES,
    defaultPrecision: 'nanosecond',
  },
};

/** @throws `parameter_invalid`, `conflicting_values`. */
export function readWriteTarget(
  api: WriteApi,
  queryString: string,
  isInfluxdb3: boolean,
): WriteTarget {
  const parameters = parseParameters(queryString);
  const rules = RULES[api];
  const failure = failureOf(rules);
  const acceptPartial = readBoolean(parameters, 'accept_partial', failure) ?? true;
  if (api !== 'v1' && !isInfluxdb3)
    refusePolicy(readPolicy(parameters), api === 'v2' ? 'bucket' : 'db');
  const database = readDatabase(api, parameters, isInfluxdb3);
  return {
    database,
    exactDatabase: api === 'v1' ? exactDatabase(parameters, database) : undefined,
    isDefaultPolicy: api === 'v1' && !readParameter(parameters, ['rp'], failure)?.replace("''", ''),
    precision: readPrecision(parameters, rules),
    acceptPartial: isInfluxdb3 && api !== 'native' ? false : acceptPartial,
    noSync: readBoolean(parameters, 'no_sync', failure) ?? false,
  };
}

export function missingQueryString(api: WriteApi): TsdbError<'parameter_invalid'> {
  return tsdbError('parameter_invalid', RULES[api].noQueryString);
}

/**
 * Returns the database of a bucket. 2.x clients of a 1.x server append the default policy
 * (`db/autogen`, `db/`), which is the database itself here.
 */
export function bucketDatabase(bucket: string): string {
  return bucket.replace(/^([^/]+)\/(?:autogen|default)?$/, '$1');
}

function readDatabase(api: WriteApi, parameters: Parameters, isInfluxdb3: boolean): string {
  const rules = RULES[api];
  const nameOf = (text: string): string => {
    if (api === 'v1') return withPolicy(text, parameters, rules);
    return api === 'v2' && !isInfluxdb3 ? bucketDatabase(text) : text;
  };
  const db = readParameter(parameters, rules.targetNames, failureOf(rules));
  if (db === undefined || (api === 'v2' && db === ''))
    throw tsdbError('parameter_invalid', rules.noTarget);
  const name = nameOf(db);
  // The storage engine reports the error for this name.
  if (name === INTERNAL_DATABASE) return name;
  const fault =
    (api === 'native' ? undefined : findLegacyDatabaseNameFault(name)) ??
    findDatabaseNameFault(name);
  if (fault !== undefined) throw tsdbError('parameter_invalid', fault);
  return name;
}

function withPolicy(db: string, parameters: Parameters, rules: ApiRules): string {
  const policy = toAsciiLowerCase(readParameter(parameters, ['rp'], failureOf(rules)) ?? '');
  return policyDatabase(db, policy === "''" ? '' : policy);
}

function exactDatabase(parameters: Parameters, database: string): string | undefined {
  const databaseName = databaseOfPolicy(database);
  const policy = readParameter(parameters, ['rp']);
  if (databaseName === undefined || policy === undefined) return undefined;
  const exact = `${databaseName}/${policy}`;
  return exact !== database && toAsciiLowerCase(exact) === toAsciiLowerCase(database)
    ? exact
    : undefined;
}

function readPrecision(parameters: Parameters, rules: ApiRules): Precision {
  const text = readParameter(parameters, ['precision'], failureOf(rules));
  // The 1.x shell sends an empty precision after `precision rfc3339`, and writes nanoseconds.
  if (text === undefined || (text === '' && rules === RULES.v1)) return rules.defaultPrecision;
  const precision = rules.precisions.get(text);
  if (precision !== undefined) return precision;
  throw failureOf(rules)(`unknown variant \`${text}\`, expected one of ${rules.precisionNames}`);
}

function failureOf(rules: ApiRules): (text: string) => TsdbError {
  return (text) => tsdbError('parameter_invalid', `${rules.failurePrefix}${text}`);
}
