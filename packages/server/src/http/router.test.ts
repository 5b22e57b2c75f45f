import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Route, RouteTable } from '@plinth/kernel';
import { Router } from './router.js';

describe('Router', () => {
  const routerOf = (...paths: readonly string[]) => {
    const router = new Router();
    const add = (path: string): void => {
      const table = { routes: [] } as unknown as RouteTable; // Only passed on.
      const route = { method: 'GET', path, access: 'public' } as unknown as Route;
      router.add('shop', table, route, () => ({}) as never);
    };
    for (const path of paths) add(path);
    const found = (path: string) => {
      const { served, parameters } = router.find('GET', path) ?? {};
      return served && [served.route.path, { ...parameters }];
    };
    return { router, add, found };
  };

  it('prefers the path without parameters', () => {
    const { found } = routerOf('/a/:id', '/a/b', '/a/*');
    assert.deepEqual(found('/a/b'), ['/a/b', {}]);
    assert.deepEqual(found('/a/c'), ['/a/:id', { id: 'c' }]);
    assert.deepEqual(found('/a/c/d'), ['/a/*', { '*': 'c/d' }]);
    assert.equal(found('/b'), undefined);
  });

  it('does not match the name of a parameter as a path', () => {
    const { found } = routerOf('/a/:id');
    assert.deepEqual(found('/a/:id'), ['/a/:id', { id: ':id' }]);
    assert.deepEqual(found('/a/:'), ['/a/:id', { id: ':' }]);
  });

  it('keeps the first of two routes for a path, whatever the parameter names', () => {
    const { router, found } = routerOf('/a/:id', '/a/:name', '/b', '/b');
    assert.deepEqual(found('/a/c'), ['/a/:id', { id: 'c' }]);
    assert.deepEqual(
      router.routes.map(({ method, path }) => `${method} ${path}`),
      ['GET /a/:id', 'HEAD /a/:id', 'GET /b', 'HEAD /b'],
    );
  });

  it('finds routes added after the first lookup', () => {
    const { add, found } = routerOf('/a/:id');
    assert.equal(found('/b/c'), undefined);
    add('/b/:id');
    assert.deepEqual(found('/b/c'), ['/b/:id', { id: 'c' }]);
  });

  it('rejects a wildcard that is not at the end of the path', () => {
    const { add } = routerOf();
    for (const path of ['/a/*/b', '/*/:id', 'a', '']) {
      assert.throws(() => add(path), /must consist of unreserved characters/, path);
    }
  });
});
