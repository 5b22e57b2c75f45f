import {
  checkedRoute,
  emptyResponse,
  type HttpResponse,
  isSafeName,
  jsonResponse,
  type Permission,
  type Route,
} from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import { databaseOfPolicy } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { type Static, Type } from 'typebox';
import type { TokenRecord } from '../../domain/system-tables/tables/tokens.js';
import type { RouteDeps } from '../deps.js';
import { NO_CONTENT } from '../description.js';
import { bucketDatabase } from '../write/write-target.js';
import type { TokenManagement } from './token-management.js';
import { authorizationOf, numberOf, requireOrganization, v2Failure } from './v2-objects.js';
import { Authorization, BODY, Id, many, ORG, one, V2Permissions } from './v2-schemas.js';

const maybe = Type.Optional;
const PATH = '/api/v2/authorizations';
const ID = Id('authID');
const MISSING = { 404: 'the authorization does not exist' };
const STATUS = maybe(Type.Literal('active', { description: 'to revoke a token, delete it' }));
/** Attempts to find a free name for a token whose description is taken. */
const MAX_NAME_ATTEMPTS = 1000;
const MAX_NAME_LENGTH = 240;

/** Tokens as authorizations, for 2.x clients. Source: tsdb-http, "v2 management". */
export function authorizationRoutes(
  tokens: TokenManagement,
  { catalog, clock }: RouteDeps,
): readonly Route[] {
  const shown = (token: TokenRecord, text?: string): object =>
    authorizationOf(token, {
      nowMs: clock.nowMs(),
      ...(text !== undefined && { text }),
      database: (name) => catalog.database(name),
    });
  const find = (id: string | undefined): TokenRecord | undefined =>
    tokens.list().find((token) => token.id === numberOf(id ?? ''));
  return [
    checkedRoute({
      method: 'GET',
      path: PATH,
      access: 'admin',
      about: { summary: 'List tokens as authorizations (v2)' },
      input: {
        query: Type.Object({
          ...ORG,
          userID: maybe(Type.String()),
          user: maybe(Type.String()),
          token: maybe(Type.String({ description: 'text of a token' })),
        }),
      },
      output: many('authorizations', Authorization),
      handle(_request, { query: { orgID, userID, user, token: text } }) {
        requireOrganization(orgID);
        const wanted = text === undefined ? undefined : (tokens.idOf(text) ?? -1);
        const authorizations = tokens
          .list()
          .filter(({ id }) => userID === undefined || id === numberOf(userID))
          .filter(({ name }) => user === undefined || name === user)
          .filter(({ id }) => wanted === undefined || id === wanted)
          .map((token) => shown(token));
        return jsonResponse(200, { authorizations, links: { self: PATH } });
      },
    }),
    checkedRoute({
      method: 'POST',
      path: PATH,
      access: 'admin',
      body: BODY,
      about: {
        summary: 'Create a token as an authorization (v2)',
        description:
          'Permissions on buckets become permissions on databases. If authorizations may be written too, the token is an admin token. Other resource types have no effect.',
      },
      input: {
        body: Type.Object({
          ...ORG,
          userID: maybe(Type.String({ description: 'has no effect' })),
          description: maybe(Type.String({ description: 'name of the token' })),
          status: STATUS,
          permissions: V2Permissions,
        }),
      },
      output: one(201, Authorization),
      async handle({ principal }, { body: { orgID, description, permissions } }) {
        for (const id of [orgID, ...permissions.map(({ resource }) => resource.orgID)])
          requireOrganization(id);
        const byTokenId = principal.kind === 'admin' ? principal.tokenId : undefined;
        const { token, text } = await tokens.create({
          name: freeName(description, tokens),
          byTokenId,
          permissions: isAdministrator(permissions)
            ? undefined
            : databasePermissions(permissions, catalog),
        });
        return jsonResponse(201, shown(token, text));
      },
    }),
    checkedRoute({
      method: 'GET',
      path: `${PATH}/:authID`,
      access: 'admin',
      about: { summary: 'Get a token as an authorization (v2)' },
      input: { parameters: ID },
      output: one(200, Authorization),
      errors: MISSING,
      handle({ parameters }) {
        const token = find(parameters['authID']);
        return token === undefined ? NOT_FOUND : jsonResponse(200, shown(token));
      },
    }),
    checkedRoute({
      method: 'PATCH',
      path: `${PATH}/:authID`,
      access: 'admin',
      body: BODY,
      about: { summary: 'Reject changes to a token (v2)' },
      input: {
        parameters: ID,
        body: Type.Object({ status: maybe(Type.String()), description: maybe(Type.String()) }),
      },
      output: one(200, Authorization),
      errors: MISSING,
      handle({ parameters }, { body: { status = 'active', description } }): HttpResponse {
        const token = find(parameters['authID']);
        if (token === undefined) return NOT_FOUND;
        if (status === 'active' && (description ?? token.name) === token.name)
          return jsonResponse(200, shown(token));
        return v2Failure(400, 'an authorization cannot be changed; delete it and create another');
      },
    }),
    checkedRoute({
      method: 'DELETE',
      path: `${PATH}/:authID`,
      access: 'admin',
      about: { summary: 'Delete a token (v2)' },
      input: { parameters: ID },
      output: NO_CONTENT,
      errors: { ...MISSING, 405: 'the admin token cannot be deleted' },
      async handle({ parameters }) {
        const token = find(parameters['authID']);
        if (token === undefined) return NOT_FOUND;
        await tokens.delete(token.name);
        return emptyResponse(204);
      },
    }),
  ];
}

const NOT_FOUND = v2Failure(404, 'authorization not found');

/** Returns an unused token name, because names are unique but 2.x descriptions are not. Throws `parameter_invalid`. */
function freeName(description: string | undefined, tokens: TokenManagement): string {
  const wanted = description?.trim() || 'authorization';
  if (wanted.length > MAX_NAME_LENGTH)
    throw tsdbError(
      'parameter_invalid',
      `description must have at most ${MAX_NAME_LENGTH} characters`,
    );
  if (!isSafeName(wanted))
    throw tsdbError('parameter_invalid', 'description must not contain control characters');
  const taken = new Set(tokens.list().map(({ name }) => name));
  if (!taken.has(wanted)) return wanted;
  for (let n = 2; n < MAX_NAME_ATTEMPTS; n++)
    if (!taken.has(`${wanted} ${n}`)) return `${wanted} ${n}`;
  throw tsdbError(
    'parameter_invalid',
    `${MAX_NAME_ATTEMPTS - 1} authorizations already use the description "${wanted}"; use a different description`,
  );
}

type Permissions = Static<typeof V2Permissions>;

/** Checks for an operator or all-access token of 2.x, which can write authorizations and all buckets. */
function isAdministrator(permissions: Permissions): boolean {
  const mayWrite = (resourceType: string): boolean =>
    permissions.some(
      ({ action, resource: { type, id, name } }) =>
        type === resourceType && action === 'write' && id === undefined && name === undefined,
    );
  return mayWrite('authorizations') && mayWrite('buckets');
}

/** Throws `parameter_invalid`. */
function databasePermissions(
  permissions: Permissions,
  catalog: RelationalCatalog,
): readonly Permission[] {
  const actions = new Map<string, Set<'read' | 'write'>>();
  for (const { action, resource } of permissions) {
    if (resource.type !== 'buckets') continue;
    const name = databaseOf(resource, catalog);
    const known = actions.get(name) ?? new Set();
    actions.set(name, known.add(action as 'read' | 'write'));
  }
  if (actions.size === 0)
    throw tsdbError(
      'parameter_invalid',
      'permissions must include at least one resource of type "buckets"',
    );
  return [...actions].map(([name, of]) => ({
    resource: 'db',
    names: [name],
    actions: [...of].sort(),
  }));
}

function databaseOf(
  { id, name }: Permissions[number]['resource'],
  catalog: RelationalCatalog,
): string {
  if (id === undefined && name === undefined) return '*';
  const number = id === undefined ? undefined : numberOf(id);
  const found =
    id === undefined ? bucketDatabase(name ?? '') : catalog.databaseById(number ?? -1)?.name;
  if (found === undefined || catalog.database(found) === undefined)
    throw tsdbError('parameter_invalid', `permissions name an unknown bucket: ${id ?? name}`);
  // Permissions of a database also apply to its retention policies.
  return databaseOfPolicy(found) ?? found;
}
