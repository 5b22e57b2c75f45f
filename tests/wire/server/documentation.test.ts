// Source: webhooks, section 2.2; rate-limits, sections 4.3, 7 and 8: `documentation_url` of error responses without `docs_base`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

const ANONYMOUS_LIMIT = 8;

let server: ServerInProcess;
let headers: Record<string, string>;
before(async () => {
  server = await ServerInProcess.start({
    flags: [
      '--rate-limit-resources',
      JSON.stringify({ core: { anonymous_limit: ANONYMOUS_LIMIT } }),
    ],
  });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const { token } = JSON.parse(made.text) as { readonly token: string };
  headers = { authorization: `Bearer ${token}` };
});
after(() => server.close());

/** An error response, and the page that it links to, read without a credential. */
async function follow(method: string, path: string, sent: Record<string, string> = {}) {
  const refused = await server.http.send(path, { method, headers: sent });
  assert.ok(refused.status >= 400, `${method} ${path}: ${refused.status}`);
  const url = new URL(
    (JSON.parse(refused.text) as { documentation_url: string }).documentation_url,
  );
  assert.equal(url.origin, new URL(server.url).origin);
  const page = await server.http.send(url.pathname);
  assert.equal(page.status, 200, `${url}: ${page.text}`);
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  const anchor = url.hash.slice(1);
  if (anchor !== '') assert.ok(page.text.includes(` id="${anchor}"`), `${url} has no such anchor`);
  return { status: refused.status, path: url.pathname, anchor, text: page.text };
}

describe('the documentation URL of an error response', () => {
  it('links to the operation on the page of app webhooks', async () => {
    const hook = '/api/v3/app/hook';
    for (const [method, path, anchor] of [
      ['GET', `${hook}/config`, 'get-a-webhook-configuration-for-an-app'],
      ['PATCH', `${hook}/config`, 'update-a-webhook-configuration-for-an-app'],
      ['GET', `${hook}/deliveries`, 'list-deliveries-for-an-app-webhook'],
      ['GET', `${hook}/deliveries/1`, 'get-a-delivery-for-an-app-webhook'],
      ['POST', `${hook}/deliveries/1/attempts`, 'redeliver-a-delivery-for-an-app-webhook'],
    ] as const) {
      const refused = await follow(method, path);
      assert.equal(refused.status, 401);
      assert.deepEqual([refused.path, refused.anchor], ['/docs/rest/apps/webhooks', anchor]);
    }
  });

  it('links to the operator page, which lists only existing routes', async () => {
    const { status, path, text } = await follow('GET', '/ops/v1/apps/nobody', headers);
    assert.deepEqual([status, path], [404, '/docs/operator']);
    const operations = [...text.matchAll(/<code>([A-Z]+) (\/ops\/[^<]+)<\/code>/g)];
    assert.ok(operations.length > 20, text);
    // The routes come from the server's list; calling them would start backups.
    const routes = JSON.parse(
      (await server.http.send('/ops/v1/routes', { headers })).text,
    ) as readonly { readonly method: string; readonly path: string }[];
    const served = new Set(
      routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    for (const [, method = '', path = ''] of operations) {
      assert.ok(served.has(`${method} ${path}`), `${method} ${path}`);
    }
  });

  it('links to the limits page with the values of the server', async () => {
    for (let count = 0; count < ANONYMOUS_LIMIT; count += 1) await server.http.send('/api/v3/app');
    const primary = await follow('GET', '/api/v3/app');
    assert.equal(primary.status, 403);
    assert.equal(primary.path, '/docs/rest/using-the-rest-api/rate-limits-for-the-rest-api');
    assert.ok(primary.text.includes(' id="about-secondary-rate-limits"'));
    assert.ok(primary.text.includes('900 points per endpoint and minute'));
  });

  it('is a platform page otherwise, and no other pages exist', async () => {
    for (const path of ['/docs', '/docs/', '/docs/rest', '/docs/rest/', '/docs/accounts/errors']) {
      assert.equal((await server.http.send(path)).status, 200, path);
    }
    const head = await server.http.send('/docs/rest', { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    for (const path of ['/docs/nothing', '/docs/rest/nothing', '/docsrest']) {
      const { status } = await server.http.send(path, { headers });
      assert.equal(status, 404, path);
    }
    assert.equal((await server.http.send('/docs/rest', { method: 'POST', headers })).status, 404);
  });

  it('is served by services that run without others', async () => {
    await using alone = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
    const page = await alone.http.send('/docs/operator');
    assert.equal(page.status, 200);
    assert.ok(page.text.includes('/ops/v1/identities'));
    assert.ok(!page.text.includes('/ops/v1/rate-limits'));
    assert.equal((await alone.http.send('/docs/rest/apps/webhooks')).status, 404);
  });
});

describe('a page', () => {
  it('loads no foreign code and cannot be framed', async () => {
    for (const path of [
      '/docs/operator',
      '/docs/rest',
      '/docs/rest/apps/webhooks',
      '/docs/accounts/errors',
      '/api/docs',
    ]) {
      const { status, headers: sent } = await server.http.send(path);
      assert.equal(status, 200, path);
      const policy = String(sent['content-security-policy']);
      assert.match(policy, /^default-src 'none'/, path);
      assert.match(policy, /frame-ancestors 'none'/, path);
      assert.equal(sent['x-content-type-options'], 'nosniff', path);
    }
  });
});
