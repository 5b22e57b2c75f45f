// Source: docs/SECURITY-NETWORK.md, "Browsers"; docs/README.md: the pages as `npm run docs` builds them, at /docs/.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { buildSite, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let noSite: string | undefined;
before(async () => {
  noSite = await buildSite();
  server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
});
after(() => server.close());

const isBuilt = (context: TestContext): boolean => {
  if (noSite !== undefined) context.skip(noSite);
  return noSite === undefined;
};

describe('the site of the documentation', () => {
  it('has the pages of docs/, with their links, and needs no credential', async (context) => {
    if (!isBuilt(context)) return;
    const front = await server.http.send('/docs/');
    assert.equal(front.status, 200);
    assert.equal(front.headers['content-type'], 'text/html; charset=utf-8');
    const local = [...front.text.matchAll(/<a [^>]*href="(\/docs\/[^"#]*)"/g)];
    const paths = new Set(local.map(([, path = '']) => path));
    for (const page of [
      'TUTORIAL',
      'CLIENTS',
      'INSTALL',
      'SETTINGS',
      'spec/webhooks',
      'adr/0138-tested-documentation',
    ]) {
      assert.ok(paths.has(`/docs/${page}.html`), page);
    }
    for (const path of paths) {
      const { status } = await server.http.send(path, { method: 'HEAD' });
      assert.equal(status, 200, path);
    }
    const tutorial = await server.http.send('/docs/TUTORIAL.html');
    assert.match(tutorial.text, /valid signature/);
    assert.doesNotMatch(tutorial.text, /test: /, 'marks of the test are no part of the text');
    // The server's own pages are still served.
    assert.equal((await server.http.send('/docs/rest/')).status, 200);
    assert.equal((await server.http.send('/docs/api/tsdb.json')).status, 200);
  });

  it('runs its own files and the scripts that stand in its pages, and is shown in no other page', async (context) => {
    if (!isBuilt(context)) return;
    for (const path of ['/docs/', '/docs/TUTORIAL.html', '/docs/adr/']) {
      const { headers, text } = await server.http.send(path);
      const inline = [...text.matchAll(/<script(?![^>]*\ssrc=)[^>]*>(.*?)<\/script>/gs)];
      const hashes = inline.map(
        ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
      );
      assert.equal(
        headers['content-security-policy'],
        `default-src 'none'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
        path,
      );
      assert.doesNotMatch(
        text,
        /\son\w+="|(?:src|href)="https?:\/\/(?!datatracker|docs\.|nodejs)[^"]*\.(?:js|css)"/,
      );
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
      assert.equal(headers['referrer-policy'], 'no-referrer', path);
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path);
      assert.equal(headers['cache-control'], 'no-cache', path);
    }
  });

  it('lets browsers keep its files, compressed, and has nothing beside them', async (context) => {
    if (!isBuilt(context)) return;
    const front = await server.http.send('/docs/');
    const script = /<script type="module" src="(\/docs\/assets\/app[^"]+)"/.exec(front.text)?.[1];
    assert.ok(script);
    const plain = await server.http.send(script);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    const coded = await server.http.send(script, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(coded.headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(coded.bytes).toString(), plain.text);
    for (const path of [
      'stamp',
      'README.html',
      'nothing',
      '..%2f..%2fpackage.json',
      'TUTORIAL.md',
      'adr',
    ]) {
      assert.equal((await server.http.send(`/docs/${path}`)).status, 404, path);
    }
  });
});
