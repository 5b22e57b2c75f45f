// Source: webhooks, section 2.2: the common error format of the platform API; accounts adds its own error.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';

interface ListedRoute {
  readonly method: string;
  readonly path: string;
}

/** Starts a backup, which ends with its connection; it reads no body. */
const WITHOUT_REFUSAL = ['/ops/v1/backups'];

function assertShape(response: HttpResponse, base: string, at: string): void {
  assert.match(String(response.headers['content-type']), /^application\/json/, at);
  const body = JSON.parse(response.text) as Record<string, unknown>;
  assert.equal(typeof body['message'], 'string', `${at}: ${response.text}`);
  assert.equal(body['documentation_url'], `${base}/docs/operator`, `${at}: ${response.text}`);
  assert.equal(body['status'], String(response.status), `${at}: ${response.text}`);
}

it('errors of all operator routes have the same shape', async () => {
  const server = await ServerInProcess.start({ flags: ['--without-auth'] });
  try {
    const { http, url } = server;
    const routes = (JSON.parse((await http.send('/ops/v1/routes')).text) as ListedRoute[]).filter(
      ({ method, path }) =>
        path.startsWith('/ops/v1/') && method !== 'HEAD' && !WITHOUT_REFUSAL.includes(path),
    );
    assert.ok(routes.length > 40, String(routes.length));
    let refusedCount = 0;
    for (const { method, path } of routes) {
      const target = path.replaceAll(/:\w+/g, 'none').replace('*', 'none');
      for (const body of method === 'GET' ? [undefined] : ['{bad', '[]', '{"no_such_member":1}']) {
        const headers = { 'content-type': 'application/json' };
        const response = await http.send(target, { method, headers, ...(body && { body }) });
        if (response.status < 400) continue;
        refusedCount++;
        assertShape(response, url, `${method} ${target} ${body ?? ''}`);
      }
    }
    assert.ok(refusedCount > 60, String(refusedCount));
    for (const path of ['/ops/v1/none', '/ops/v1/accounts/none', '/ops/v1/tsdb/none', '/ops/v1']) {
      const response = await http.send(path);
      assert.equal(response.status, 404, path);
      assertShape(response, url, path);
    }
  } finally {
    await server.close();
  }
});

it('operator routes refuse requests without a token in the same shape', async () => {
  const server = await ServerInProcess.start({ flags: [] });
  try {
    for (const path of ['/ops/v1/apps', '/ops/v1/accounts/platforms', '/ops/v1/tsdb/databases']) {
      const response = await server.http.send(path);
      assert.equal(response.status, 401, path);
      assertShape(response, server.url, path);
    }
  } finally {
    await server.close();
  }
});
