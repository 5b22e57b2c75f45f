import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DiskFull, type FreeDiskSpace, type Route } from '@plinth/kernel';
import { readSettings, startServer } from '../start-server.js';
import { refusedWhenFull, WORK_ON_FULL_DISK } from './full-disk-requests.js';

/** Whether a request to the route is refused while the disk is full. */
function isRefused(method: Route['method'], path: string): boolean {
  const diskSpace: FreeDiskSpace = {
    obstacle: DiskFull.low(),
    hasSpaceFor: () => false,
    noteWritten() {},
  };
  let count = 0;
  const refusals = { inc: () => void count++ };
  const route = { method, path, handle: () => assert.fail('not called') } as unknown as Route;
  const checked = refusedWhenFull(route, diskSpace, refusals);
  // The wrapper does not read the request.
  const check = () => checked.check?.(undefined as never);
  try {
    check();
  } catch (error) {
    assert.equal(error, diskSpace.obstacle);
    assert.equal(count, 1);
    return true;
  }
  assert.equal(count, 0);
  return false;
}

it('refuses writes on a full disk, but not reads or deletions', () => {
  for (const path of ['/write', '/api/v3/write_lp', '/v2/core/accounts', '/api/editor/:type']) {
    assert.ok(isRefused('POST', path), path);
  }
  assert.ok(isRefused('PUT', '/api/editor/:type/:id'));
  assert.ok(isRefused('PATCH', '/ops/v1/apps/:app'));
  assert.ok(!isRefused('GET', '/api/v3/query_sql'));
  assert.ok(!isRefused('DELETE', '/api/v3/configure/database'));
  for (const path of ['/query', '/query/', '/api/v3/query_sql', '/api/v2/delete']) {
    assert.ok(!isRefused('POST', path), path);
  }
});

it('uses only the check of the route while there is free space', () => {
  const diskSpace: FreeDiskSpace = {
    obstacle: undefined,
    hasSpaceFor: () => true,
    noteWritten() {},
  };
  let isChecked = false;
  const check = (): void => {
    isChecked = true;
  };
  const route = { method: 'POST', path: '/write', check };
  refusedWhenFull(route as unknown as Route, diskSpace, { inc: () => assert.fail() }).check?.(
    undefined as never,
  );
  assert.ok(isChecked, 'the check of the route itself');
});

it('names only routes that the server has', async () => {
  const flags = [
    ['http-bind', '127.0.0.1:0'],
    ['object-store', 'memory'],
    ['without-auth', 'true'],
  ] as const;
  const settings = readSettings({ env: {}, flags: new Map(flags) });
  const server = await startServer({ settings, logDestination: { write() {} } });
  try {
    const response = await fetch(`${server.address.url}/ops/v1/routes`);
    const routes = (await response.json()) as { method: string; path: string }[];
    const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    assert.deepEqual(
      [...WORK_ON_FULL_DISK].filter((route) => !known.has(route)),
      [],
    );
  } finally {
    await server.close();
  }
});
