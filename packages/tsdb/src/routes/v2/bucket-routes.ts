import {
  checkedRoute,
  emptyResponse,
  jsonResponse,
  type Principal,
  type Route,
} from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import {
  databaseOfPolicy,
  findDatabaseNameFault,
  findLegacyDatabaseNameFault,
  INTERNAL_DATABASE,
} from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { type Static, Type } from 'typebox';
import { withCompatDefault } from '../configure/database-routes.js';
import type { RouteDeps } from '../deps.js';
import { NO_CONTENT } from '../description.js';
import { bucketDatabase } from '../write/write-target.js';
import {
  bucketOf,
  mappingOf,
  nanosOf,
  numberOf,
  requireOrganization,
  v2Failure,
} from './v2-objects.js';
import { BODY, Bucket, Id, Mapping, many, ORG, one, PAGE, RetentionRules } from './v2-schemas.js';

const maybe = Type.Optional;
const PATH = '/api/v2/buckets';
const ID = Id('bucketID');
const MISSING = { 404: 'the bucket does not exist' };
const NewBucket = Type.Object({
  ...ORG,
  name: Type.String({ minLength: 1 }),
  description: maybe(Type.String({ description: 'not stored' })),
  retentionRules: maybe(RetentionRules),
});
const ChangedBucket = Type.Object({
  name: maybe(Type.String({ description: 'cannot be changed' })),
  description: maybe(Type.String({ description: 'not stored' })),
  retentionRules: maybe(RetentionRules),
});

/** Databases and retention policies as buckets, for 2.x clients. Source: tsdb-http, "v2 management". */
export function bucketRoutes(deps: RouteDeps): readonly Route[] {
  const { catalog, engine } = deps;
  const find = (id: string, principal: Principal): DatabaseSchema | undefined => {
    const number = numberOf(id);
    const bucket = number === undefined ? undefined : catalog.databaseById(number);
    return visible(bucket === undefined ? [] : [bucket], principal, deps)[0];
  };
  return [
    checkedRoute({
      method: 'GET',
      path: PATH,
      access: 'granted',
      about: { summary: 'List databases and retention policies as buckets (v2)' },
      input: {
        query: Type.Object({
          ...ORG,
          ...PAGE,
          name: maybe(Type.String()),
          id: maybe(Type.String()),
          after: maybe(
            Type.String({
              pattern: '^[0-9a-f]{16}$',
              description: 'id of the last bucket of the previous page',
            }),
          ),
        }),
      },
      output: many('buckets', Bucket),
      handle({ principal }, { query: { orgID, name, id, after, limit = 20, offset = 0 } }) {
        requireOrganization(orgID);
        const requestedName = name === undefined ? undefined : bucketDatabase(name);
        const from = after === undefined ? -1 : (numberOf(after) ?? Number.POSITIVE_INFINITY);
        const found = visible(catalog.databases(), principal, deps)
          .filter((bucket) => requestedName === undefined || bucket.name === requestedName)
          .filter((bucket) => id === undefined || bucket.id === numberOf(id))
          .filter((bucket) => bucket.id > from)
          .sort((a, b) => a.id - b.id)
          .slice(offset, offset + limit);
        return jsonResponse(200, { buckets: found.map(bucketOf), links: { self: PATH } });
      },
    }),
    checkedRoute({
      method: 'POST',
      path: PATH,
      access: 'admin',
      body: BODY,
      about: { summary: 'Create a database or retention policy as a bucket (v2)' },
      input: { body: NewBucket },
      output: one(201, Bucket),
      errors: { 422: 'the name is taken' },
      async handle(_request, { body: { orgID, name, retentionRules } }) {
        requireOrganization(orgID);
        const database = newBucketName(name);
        await catalog
          .createDatabase(database, nanosOf(retentionRules?.[0]?.everySeconds))
          .catch((error: unknown) => {
            throw catalog.database(database) === undefined
              ? error
              : tsdbError('bucket_exists', { bucket: name });
          });
        await applyShards(catalog, database, retentionRules);
        return jsonResponse(201, bucketOf(catalog.database(database) as DatabaseSchema));
      },
    }),
    checkedRoute({
      method: 'GET',
      path: `${PATH}/:bucketID`,
      access: 'granted',
      about: { summary: 'Get a bucket (v2)' },
      input: { parameters: ID },
      output: one(200, Bucket),
      errors: MISSING,
      handle({ principal, parameters }) {
        const bucket = find(parameters['bucketID'] as string, principal);
        return bucket === undefined ? NOT_FOUND : jsonResponse(200, bucketOf(bucket));
      },
    }),
    checkedRoute({
      method: 'PATCH',
      path: `${PATH}/:bucketID`,
      access: 'admin',
      body: BODY,
      about: { summary: 'Change the retention period of a bucket (v2)' },
      input: { parameters: ID, body: ChangedBucket },
      output: one(200, Bucket),
      errors: MISSING,
      async handle({ principal, parameters }, { body: { name, retentionRules } }) {
        const bucket = find(parameters['bucketID'] as string, principal);
        if (bucket === undefined) return NOT_FOUND;
        if (name !== undefined && bucketDatabase(name) !== bucket.name)
          return v2Failure(
            400,
            `a bucket cannot be renamed; set the name to "${bucket.name}" or omit the name`,
          );
        if (retentionRules !== undefined) {
          await catalog.setRetention(bucket.name, nanosOf(retentionRules[0]?.everySeconds));
          await applyShards(catalog, bucket.name, retentionRules);
        }
        return jsonResponse(200, bucketOf(catalog.databaseById(bucket.id) ?? bucket));
      },
    }),
    checkedRoute({
      method: 'DELETE',
      path: `${PATH}/:bucketID`,
      access: 'admin',
      about: { summary: 'Delete a bucket with its rows (v2)' },
      input: { parameters: ID },
      output: NO_CONTENT,
      errors: MISSING,
      async handle({ principal, parameters }) {
        const bucket = find(parameters['bucketID'] as string, principal);
        if (bucket === undefined) return NOT_FOUND;
        const hardDelete = withCompatDefault({ kind: 'absent' }, deps);
        await catalog.deletions.deleteDatabase(bucket.name, hardDelete);
        engine.removeDeletedSoon();
        return emptyResponse(204);
      },
    }),
    checkedRoute({
      method: 'GET',
      path: '/api/v2/dbrps',
      access: 'granted',
      about: { summary: 'List the mappings of databases and retention policies to buckets (v2)' },
      input: {
        query: Type.Object({
          ...ORG,
          id: maybe(Type.String()),
          bucketID: maybe(Type.String()),
          db: maybe(Type.String()),
          rp: maybe(Type.String()),
          default: maybe(Type.Boolean()),
        }),
      },
      output: many('content', Mapping),
      handle({ principal }, { query }) {
        requireOrganization(query.orgID);
        const matches = (requested: unknown, value: unknown): boolean =>
          requested === undefined || requested === value;
        const content = visible(catalog.databases(), principal, deps)
          .flatMap((bucket) => {
            const database = catalog.database(databaseOfPolicy(bucket.name) ?? bucket.name);
            return database === undefined ? [] : [mappingOf(bucket, database)];
          })
          .filter((mapping) => matches(query.id ?? query.bucketID, mapping.id))
          .filter((mapping) => matches(query.db, mapping.database))
          .filter((mapping) => matches(query.rp, mapping.retention_policy))
          .filter((mapping) => matches(query.default, mapping.default));
        return jsonResponse(200, { content });
      },
    }),
  ];
}

const NOT_FOUND = v2Failure(404, 'bucket not found');

/** Returns the database for a new bucket. Throws `parameter_invalid`. */
export function newBucketName(name: string): string {
  const database = bucketDatabase(name);
  const fault = findLegacyDatabaseNameFault(database) ?? findDatabaseNameFault(database);
  if (fault !== undefined) throw tsdbError('parameter_invalid', fault);
  return database;
}

/** Buckets that the principal may read or write; only administrators see `_internal`. */
function visible(
  buckets: readonly DatabaseSchema[],
  principal: Principal,
  { isAuthRequired }: Pick<RouteDeps, 'isAuthRequired'>,
): readonly DatabaseSchema[] {
  const access = accessOf(principal, isAuthRequired);
  return buckets.filter(
    ({ name }) => access.mayRead(name) || (name !== INTERNAL_DATABASE && access.mayWrite(name)),
  );
}

async function applyShards(
  catalog: RelationalCatalog,
  database: string,
  rules: Static<typeof RetentionRules> | undefined,
): Promise<void> {
  const seconds = rules?.[0]?.shardGroupDurationSeconds;
  if (seconds !== undefined) await catalog.setShardDuration(database, nanosOf(seconds));
}
