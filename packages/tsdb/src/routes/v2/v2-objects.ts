import { type HttpResponse, hasExpired, jsonResponse, type Permission } from '@plinth/kernel';
import { databaseOfPolicy } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { TokenRecord } from '../../domain/system-tables/tables/tokens.js';
import { v2Code } from '../to-wire.js';

/** The server has one organization. Every name in a request refers to it. */
export const ORGANIZATION_ID = '0000000000000001';
export const ORGANIZATION_NAME = 'plinth';
/** Action on a resource type of 2.x. */
const ADMIN_RESOURCES = ['authorizations', 'buckets', 'dbrp', 'orgs'];
const NS_PER_SEC = 1_000_000_000n;

/**
 * Returns the id of a 2.x object: 16 hex digits, never zero.
 * @param number of a database or token, from 0
 */
export const idOf = (number: number): string => (number + 1).toString(16).padStart(16, '0');

/** Inverts `idOf`; returns `undefined` for a text that is not an id. */
export function numberOf(id: string): number | undefined {
  const number = /^[0-9a-f]{16}$/.test(id) ? Number.parseInt(id, 16) - 1 : -1;
  return number >= 0 && Number.isSafeInteger(number) ? number : undefined;
}

/** Returns the bucket of a database or retention policy. */
export function bucketOf({ id, name, retentionNs = 0n, shardDurationNs }: DatabaseSchema): object {
  const shard = shardDurationNs === undefined ? undefined : Number(shardDurationNs / NS_PER_SEC);
  return {
    id: idOf(id),
    orgID: ORGANIZATION_ID,
    type: name.startsWith('_') ? 'system' : 'user',
    name,
    retentionRules: [
      {
        type: 'expire',
        everySeconds: Number(retentionNs / NS_PER_SEC),
        ...(shard !== undefined && { shardGroupDurationSeconds: shard }),
      },
    ],
    links: { self: `/api/v2/buckets/${idOf(id)}` },
    labels: [],
  };
}

/** Returns the object that maps a database and retention policy of 1.x to its bucket. */
export function mappingOf(bucket: DatabaseSchema, database: DatabaseSchema) {
  const policy = databaseOfPolicy(bucket.name) && bucket.name.slice(database.name.length + 1);
  return {
    id: idOf(bucket.id),
    bucketID: idOf(bucket.id),
    database: database.name,
    retention_policy: policy ?? 'autogen',
    default: database.defaultPolicy === policy,
    orgID: ORGANIZATION_ID,
    virtual: true,
  };
}

/** Returns the authorization of a token. */
export function authorizationOf(
  token: TokenRecord,
  options: {
    readonly nowMs: number;
    /** The text of the token, known only when it is created. */
    readonly text?: string;
    database(name: string): DatabaseSchema | undefined;
  },
): object {
  const createdAt = new Date(token.createdMs).toISOString();
  return {
    id: idOf(token.id),
    token: options.text ?? 'REDACTED',
    status: hasExpired(token.expiryMs, options.nowMs) ? 'inactive' : 'active',
    description: token.name,
    orgID: ORGANIZATION_ID,
    org: ORGANIZATION_NAME,
    userID: idOf(token.id),
    user: token.name,
    permissions: permissionsOf(token, options.database),
    createdAt,
    updatedAt: token.updatedMs === undefined ? createdAt : new Date(token.updatedMs).toISOString(),
    links: { self: `/api/v2/authorizations/${idOf(token.id)}` },
  };
}

function permissionsOf(
  { permissions }: Pick<TokenRecord, 'permissions'>,
  database: (name: string) => DatabaseSchema | undefined,
): readonly object[] {
  if (permissions === undefined) {
    const actions = ['read', 'write'];
    return ADMIN_RESOURCES.flatMap((type) =>
      actions.map((action) => ({ action, resource: { type, orgID: ORGANIZATION_ID } })),
    );
  }
  const bucket = (name: string): object => {
    if (name === '*') return {};
    const known = database(name);
    return known === undefined ? { name } : { id: idOf(known.id), name };
  };
  return permissions
    .filter(({ resource }) => resource === 'db')
    .flatMap(({ names, actions }: Permission) =>
      names.flatMap((name) => {
        const resource = { type: 'buckets', ...bucket(name), orgID: ORGANIZATION_ID };
        return actions.map((action) => ({ action, resource }));
      }),
    );
}

/** Returns the duration of a retention rule; `undefined` for none. */
export const nanosOf = (seconds = 0): bigint | undefined =>
  seconds === 0 ? undefined : BigInt(seconds) * NS_PER_SEC;

/** Returns an error response in the format of 2.x. */
export const v2Failure = (status: number, message: string): HttpResponse =>
  jsonResponse(status, { code: v2Code(status), message, error: message, data: {} });

/** Throws `parameter_invalid` if this is not the id of the organization. */
export function requireOrganization(id: string | undefined): void {
  if (id === undefined || id === '' || id === ORGANIZATION_ID) return;
  throw tsdbError('parameter_invalid', `unknown organization id "${id}"; use ${ORGANIZATION_ID}`);
}
