import { checkedRoute, jsonResponse, OpenApi, type Route } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { newBucketName } from './bucket-routes.js';
import { organization } from './organization-routes.js';
import type { TokenManagement } from './token-management.js';
import { authorizationOf, bucketOf, idOf, nanosOf } from './v2-objects.js';
import { Authorization, BODY, Bucket, Organization, one, User } from './v2-schemas.js';

const maybe = Type.Optional;
const PATH = '/api/v2/setup';
const { response, json } = OpenApi;

/**
 * The first token, as the setup of a 2.x server. No user is created: the password is ignored.
 * Source: tsdb-http, "v2 management".
 */
export const setupRoutes = (
  tokens: TokenManagement,
  { catalog, clock }: RouteDeps,
): readonly Route[] => [
  checkedRoute({
    method: 'GET',
    path: PATH,
    access: 'public',
    about: { summary: 'Check whether the first token can be created (v2)' },
    input: {},
    output: { 200: response('the state', json(Type.Object({ allowed: Type.Boolean() }))) },
    handle: () => jsonResponse(200, { allowed: !tokens.hasFirst() }),
  }),
  checkedRoute({
    method: 'POST',
    path: PATH,
    access: 'first_token',
    body: BODY,
    about: {
      summary: 'Create the first token and a bucket (v2)',
      description: 'Requires the claim code like `POST /api/v3/configure/token/admin`.',
    },
    input: {
      body: Type.Object({
        username: Type.String({ minLength: 1 }),
        password: maybe(Type.String({ description: 'has no effect' })),
        org: Type.String({ minLength: 1 }),
        bucket: Type.String({ minLength: 1 }),
        retentionPeriodSeconds: maybe(Type.Integer({ minimum: 0, maximum: 9_000_000_000 })),
        token: maybe(Type.String({ maxLength: 0, description: 'the server creates the token' })),
      }),
    },
    output: one(
      201,
      Type.Object({ user: User, bucket: Bucket, org: Organization, auth: Authorization }),
    ),
    errors: { 422: 'the first token exists' },
    check() {
      if (tokens.hasFirst()) throw tsdbError('already_set_up');
    },
    async handle(request, { body: { username, org, bucket, retentionPeriodSeconds } }) {
      const database = newBucketName(bucket);
      // Runs before the token is created, whose text would be lost if the database could not be created.
      if (catalog.database(database) === undefined)
        await catalog.createDatabase(database, nanosOf(retentionPeriodSeconds));
      const schema = await catalog.ensureDatabase(database);
      const { token, text } = await tokens.createFirst(request);
      return jsonResponse(201, {
        user: { id: idOf(token.id), name: username, status: 'active' },
        bucket: bucketOf(schema),
        org: organization(org),
        auth: authorizationOf(token, {
          nowMs: clock.nowMs(),
          text,
          database: (name) => catalog.database(name),
        }),
      });
    },
  }),
];
