// Source: tsdb-http, section 1 (unknown paths): error and data; the data lists the served paths.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

interface Told {
  readonly error: string;
  readonly data: { readonly documentation: string; readonly served: Record<string, string[]> };
}

async function withServer(
  flags: readonly string[],
  check: (server: ServerInProcess) => Promise<void>,
) {
  const server = await ServerInProcess.start({ flags });
  try {
    await check(server);
  } finally {
    await server.close();
  }
}

describe('A path outside all services', () => {
  it('returns the services with their paths', async () => {
    await withServer(['--without-auth'], async ({ http }) => {
      for (const path of ['/', '/nowhere', '/apiary', '/foo/bar.html?x=1']) {
        const response = await http.send(path);
        assert.equal(response.status, 404, path);
        assert.equal(response.headers['content-type'], 'application/json');
        const { error, data } = JSON.parse(response.text) as Told;
        assert.equal(error, 'Not found');
        const { served } = data;
        for (const [service, paths] of [
          ['tsdb', ['/api/v2', '/api/v3', '/query', '/write']],
          ['accounts', ['/v1', '/v2']],
          ['webhooks', ['/app']],
          ['ratelimit', ['/rate_limit']],
          ['gamedata', ['/api', '/editor', '/images']],
        ] as const) {
          for (const each of paths)
            assert.ok(served[service]?.includes(each), `${service} ${each}`);
        }
        const routes = JSON.parse((await http.send('/ops/v1/routes')).text) as { path: string }[];
        for (const base of Object.values(served).flat()) {
          const isServed = routes.some(({ path: at }) => at === base || at.startsWith(`${base}/`));
          assert.ok(isServed, base);
        }
        // Redirects to the documentation site if it is built.
        const pages = await http.send(data.documentation);
        assert.ok([200, 303].includes(pages.status), `${pages.status}`);
      }
      const inside = await http.send('/api/v3/nothing');
      assert.deepEqual([inside.status, inside.text], [404, '{"error":"Not found","data":{}}']);
      const method = await http.send('/write', { method: 'DELETE' });
      assert.deepEqual([method.status, method.text], [404, '{"error":"Not found","data":{}}']);
    });
  });

  it('lists a single running service, and nothing without a credential', async () => {
    await withServer(['--services', 'ratelimit', '--without-auth'], async ({ http }) => {
      const { data } = JSON.parse((await http.send('/write?db=a')).text) as Told;
      assert.ok(data.served['ratelimit']?.includes('/rate_limit'));
      assert.equal(data.served['tsdb'], undefined);
      assert.equal(data.served['gamedata'], undefined);
    });
    await withServer([], async ({ http }) => {
      const refused = await http.send('/nowhere');
      assert.equal(refused.status, 401);
      assert.ok(!refused.text.includes('served'));
    });
  });
});

it('Flux queries are answered with the supported languages', async () => {
  await withServer(['--without-auth'], async ({ http }) => {
    for (const [method, path, headers] of [
      ['POST', '/api/v2/query?org=o', { 'content-type': 'application/vnd.flux' }],
      ['POST', '/api/v2/query', { 'content-type': 'application/json' }],
      ['POST', '/api/v2/query/analyze', { 'content-type': 'application/json' }],
      ['POST', '/api/v2/query/ast', { 'content-type': 'application/json' }],
      ['GET', '/api/v2/query/suggestions', {}],
    ] as const) {
      const body = method === 'POST' ? { body: 'from(bucket: "b") |> range(start: -1h)' } : {};
      const response = await http.send(path, { method, headers, ...body });
      assert.equal(response.status, 404, path);
      // `code` and `message`, the error format of version 2 clients.
      const { code, message } = JSON.parse(response.text) as { code: string; message: string };
      assert.equal(code, 'not found');
      assert.match(message, /Flux.*\/api\/v3\/query_sql.*\/query/);
    }
  });
});
