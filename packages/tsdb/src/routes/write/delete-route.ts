import { emptyAnswer, type HttpRequest, queryOf, type Route, type RouteDocs } from '@plinth/kernel';
import type { DeleteRowsRequest } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { BUCKET, MANAGEMENT_FAILED, NO_CONTENT } from '../description.js';
import { jsonBody } from '../query/json-body.js';
import { parseParameters, readParameter, readPolicy, refusePolicy } from '../query-string.js';
import { parseDeletePredicate } from './delete-predicate.js';
import { bucketDatabase } from './write-target.js';

const WORDS: RouteDocs = {
  summary: 'Delete rows (v2); later writes are not affected',
  query: BUCKET,
  body: Type.Object({
    start: Type.String({ format: 'date-time' }),
    stop: Type.String({ format: 'date-time', description: 'included' }),
    predicate: Type.Optional(
      Type.String({
        description: '_measurement="m" AND tag="value"; without it, every row matches',
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
export const deleteRoute = ({ routeBuilder, engine, catalog }: RouteDeps): Route =>
  routeBuilder.send('POST', '/api/v2/delete', WORDS, async (request) => {
    const { table, ...what } = readDeletion(request);
    // As in 2.x, deleting from an unknown measurement succeeds.
    const isKnown = table === undefined || catalog.database(what.database)?.tables.has(table);
    const tables = table === undefined ? undefined : isKnown === true ? [table] : [];
    await engine.deleteRows({ ...what, tables });
    return emptyAnswer(204);
  });

/**
 * These members would be ignored in the body, and rows of another target than intended would be
 * deleted.
 */
const TARGET_NAMES = ['bucket', 'bucketID', 'db', 'database', 'rp'];

function readDeletion({
  url,
  body: bytes,
}: HttpRequest): Omit<DeleteRowsRequest, 'tables'> & { readonly table: string | undefined } {
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
        `unknown member ${name} of the JSON body; name the bucket, with its retention policy, in the query string, as in bucket=mydb/rp`,
      );
  const minTimeNs = readTime(body, 'start');
  const maxTimeNs = readTime(body, 'stop');
  if (minTimeNs > maxTimeNs) throw tsdbError('parameter_invalid', 'start must not be after stop');
  const { predicate = '' } = body;
  if (typeof predicate !== 'string')
    throw tsdbError('parameter_invalid', 'predicate must be a string');
  const { table, tags } = parseDeletePredicate(predicate);
  const conditions = tags.map(
    ({ tag, value, isEqual }): TagCondition => ({
      tag,
      op: isEqual ? 'in' : 'not_in',
      // An empty tag value means an absent tag.
      values: [value === '' ? undefined : value],
    }),
  );
  return { database, table, minTimeNs, maxTimeNs, anyOf: [conditions] };
}

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
