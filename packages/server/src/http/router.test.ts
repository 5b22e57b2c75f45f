import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Route, RouteGroup } from '@plinth/kernel';
import { Router } from './router.js';

describe('Router', () => {
  const routerOf = (...paths: readonly string[]) => {
    const router = new Router();
    const add = (path: string): void => {
      const table = { routes: [] } as unknown as RouteGroup; // Only passed on.
      const route = { method: 'GET', path, access: 'public' } as unknown as Route;
      router.add('shop', table, route, () => ({}) as never);
    };
    for (const path of paths) add(path);
    const match = (path: string) => {
      const { registered, parameters } = router.find('GET', path) ?? {};
      return registered && [registered.route.path, { ...parameters }];
    };
    return { router, add, match };
  };

  it('prefers the path without parameters', () => {
    const { match } = routerOf('/a/:id', '/a/b', '/a/*');
    assert.deepEqual(match('/a/b'), ['/a/b', {}]);
    assert.deepEqual(match('/a/c'), ['/a/:id', { id: 'c' }]);
    assert.deepEqual(match('/a/c/d'), ['/a/*', { '*': 'c/d' }]);
    assert.equal(match('/b'), undefined);
  });

  it('does not match the name of a parameter as a path', () => {
    const { match } = routerOf('/a/:id');
    assert.deepEqual(match('/a/:id'), ['/a/:id', { id: ':id' }]);
    assert.deepEqual(match('/a/:'), ['/a/:id', { id: ':' }]);
  });

  it('keeps the first of two routes for a path, whatever the parameter names', () => {
    const { router, match } = routerOf('/a/:id', '/a/:name', '/b', '/b');
    assert.deepEqual(match('/a/c'), ['/a/:id', { id: 'c' }]);
    assert.deepEqual(
      router.routes.map(({ method, path }) => `${method} ${path}`),
      ['GET /a/:id', 'HEAD /a/:id', 'GET /b', 'HEAD /b'],
    );
  });

  it('finds routes added after the first lookup', () => {
    const { add, match } = routerOf('/a/:id');
    assert.equal(match('/b/c'), undefined);
    add('/b/:id');
    assert.deepEqual(match('/b/c'), ['/b/:id', { id: 'c' }]);
  });

  it('rejects a wildcard that is not at the end of the path', () => {
    const { add } = routerOf();
    for (const path of ['/a/*/b', '/*/:id', 'a', '']) {
      assert.throws(() => add(path), /must consist of unreserved characters/, path);
    }
  });
});
