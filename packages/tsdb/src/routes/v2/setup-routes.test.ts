// Source: tsdb-http, "v2 management".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { RouteDeps } from '../deps.js';
import { setupRoutes } from './setup-routes.js';
import type { TokenManagement } from './token-management.js';

it('creates no token if the bucket cannot be created, because its text would be lost', async () => {
  let createdCount = 0;
  const tokens = {
    hasFirst: () => false,
    createFirst: async () => {
      createdCount++;
      return { token: { id: 0, name: '_admin', createdMs: 0 }, text: 'text' };
    },
  } as unknown as TokenManagement; // only these are called
  const catalog = {
    database: () => undefined,
    createDatabase: async () => {
      throw tsdbError('database_limit_reached', { limit: 1 });
    },
  };
  const deps = { catalog, clock: { nowMs: () => 0 } } as unknown as RouteDeps;
  const post = setupRoutes(tokens, deps).find(({ method }) => method === 'POST');
  const body = { username: 'ann', org: 'acme', bucket: 'first' };
  await assert.rejects(async () => await post?.handle({} as never, { body } as never), /database/);
  assert.equal(createdCount, 0);
});
