import {
  emptyResponse,
  type HttpRequest,
  queryOf,
  type Route,
  type RouteDocs,
} from '@plinth/kernel';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { DeleteRowsRequest } from '@plinth/tsdb-model/engine.js';
import { refuseFormerColumns, tsdbError } from '@plinth/tsdb-model/errors.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { BUCKET, MANAGEMENT_FAILED, NO_CONTENT } from '../description.js';
import { jsonBody } from '../query/json-body.js';
import { parseParameters, readParameter, readPolicy, refusePolicy } from '../query-string.js';
import { comparesFields, deleteByField } from './delete-by-field.js';
import {
  type DeleteCondition,
  type DeletePredicate,
  parseDeletePredicate,
} from './delete-predicate.js';
import { bucketDatabase } from './write-target.js';

const DOCS: RouteDocs = {
  summary: 'Delete rows (v2); later writes are not affected',
  query: BUCKET,
  body: Type.Object({
    start: Type.String({ format: 'date-time' }),
    stop: Type.String({ format: 'date-time', description: 'included' }),
    predicate: Type.Optional(
      Type.String({
        description:
          '_measurement="m" AND tag="value" AND field > 30; without it, every row matches. With _field="f", only values of this field are deleted',
      }),
    ),
  }),
  output: NO_CONTENT,
  errors: MANAGEMENT_FAILED,
};

/**
 * The 2.x route `POST /api/v2/delete`: deletes rows between `start` and `stop` that match
 * `predicate`.
 */
export const deleteRoute = (deps: RouteDeps): Route =>
  deps.routeBuilder.send('POST', '/api/v2/delete', DOCS, async (request) => {
    const { catalog, engine, influxql, isAuthRequired } = deps;
    const deletion = readDeletion(request);
    const { table, field, conditions, ...what } = deletion;
    const fields = field === undefined ? undefined : [field];
    if (what.database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    const database = catalog.database(what.database);
    const known = [...(database?.tables.values() ?? [])].filter(
      ({ name }) => name === (table ?? name),
    );
    if (table !== undefined && known.length === 0) refuseFormerTable(table, database);
    for (const schema of known) {
      const names = conditions.map(({ name }) => name);
      refuseFormerColumns(schema, field === undefined ? names : [field, ...names]);
    }
    if (known.length > 0 && comparesFields(conditions, known)) {
      await deleteByField(
        { ...deletion, tables: known },
        {
          influxql,
          access: accessOf(request.principal, isAuthRequired),
          signal: request.disconnectSignal(),
        },
      );
      return emptyResponse(204);
    }
    // As in 2.x, deleting from an unknown measurement succeeds.
    const tables = table === undefined ? undefined : known.map(({ name }) => name);
    await engine.deleteRows({ ...what, tables, fields, anyOf: [conditions.map(tagCondition)] });
    return emptyResponse(204);
  });

/** Throws `delete_predicate_invalid`. */
function refuseFormerTable(table: string, database: DatabaseSchema | undefined): void {
  const renamedTo = database?.formerTables?.get(table);
  if (renamedTo !== undefined)
    throw tsdbError(
      'delete_predicate_invalid',
      `measurement '${table}' was renamed to '${renamedTo}'; use the new name`,
    );
}

/**
 * Body members that are rejected. If they were ignored, rows could be deleted from the wrong database or retention policy.
 */
const TARGET_NAMES = ['bucket', 'bucketID', 'db', 'database', 'rp'];

function readDeletion({
  url,
  body: bytes,
}: HttpRequest): Omit<DeleteRowsRequest, 'tables' | 'fields' | 'anyOf'> & DeletePredicate {
  const parameters = parseParameters(queryOf(url));
  refusePolicy(readPolicy(parameters), 'bucket');
  const bucket = readParameter(parameters, ['bucket', 'db']);
  if (bucket === undefined || bucket === '')
    throw tsdbError('parameter_invalid', 'missing bucket value');
  const database = bucketDatabase(bucket);
  const body = jsonBody(bytes);
  for (const name of TARGET_NAMES)
    if (Object.hasOwn(body, name))
      throw tsdbError(
        'parameter_invalid',
        `unknown member '${name}' in the JSON body; set 'bucket' in the query string, as in bucket=mydb/rp`,
      );
  const minTimeNs = readTime(body, 'start');
  const maxTimeNs = readTime(body, 'stop');
  if (minTimeNs > maxTimeNs) throw tsdbError('parameter_invalid', 'start must not be after stop');
  const { predicate = '' } = body;
  if (typeof predicate !== 'string')
    throw tsdbError('parameter_invalid', 'predicate must be a string');
  return { database, minTimeNs, maxTimeNs, ...parseDeletePredicate(predicate) };
}

/** Converts a condition on a tag. An empty value means an absent tag. */
const tagCondition = ({ name, op, value }: DeleteCondition): TagCondition => ({
  tag: name,
  op: op === '=' ? 'in' : 'not_in',
  values: [value === '' ? undefined : value],
});

const TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Parses an RFC 3339 time with up to nine fraction digits, clamped to the range of timestamps. */
function readTime(body: Readonly<Record<string, unknown>>, name: 'start' | 'stop'): bigint {
  const text = body[name];
  const found = typeof text === 'string' ? TIME.exec(text) : null;
  const [, date, time, fraction = '', zone] = found ?? [];
  const ms = found === null ? Number.NaN : Date.parse(`${date}T${time}${zone?.toUpperCase()}`);
  if (!Number.isFinite(ms)) {
    throw tsdbError(
      'parameter_invalid',
      `invalid RFC3339Nano for field ${name}, please format your time with RFC3339Nano format, example: 2009-01-02T23:00:00Z`,
    );
  }
  const ns = BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  if (ns < MIN_TIME_NS) return MIN_TIME_NS;
  return ns > MAX_TIME_NS ? MAX_TIME_NS : ns;
}
