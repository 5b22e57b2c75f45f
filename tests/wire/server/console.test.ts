// Source: docs/CONSOLE-INTERNALS.md, "Build and serve" and "Protection".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assertError, type HttpResponse, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let page: HttpResponse;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
  page = await server.http.send('/console/');
});
after(() => server.close());

const scriptOf = ({ text }: HttpResponse): string =>
  /<script type="module"[^>]* src="([^"]+)"/.exec(text)?.[1] ?? '';

describe('the console', () => {
  it('is the root page for browsers; other clients get the usual response', async () => {
    const html = { headers: { accept: 'text/html,application/xhtml+xml' } };
    const response = await server.http.send('/', html);
    assert.equal(response.status, 303);
    assert.equal(response.headers['location'], '/console/');
    const other = await server.http.send('/');
    assertError(other, 401, 'the request was not authenticated');
  });

  it('needs no credential, and may load only its own resources', () => {
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(page.headers['cache-control'], 'no-store');
    assert.equal(page.headers['x-content-type-options'], 'nosniff');
    assert.equal(page.headers['referrer-policy'], 'no-referrer');
    assert.equal(page.headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(page.headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(page.headers['access-control-allow-origin'], undefined);
    const policy = String(page.headers['content-security-policy']);
    const nonce = /'nonce-([\w-]{22})'/.exec(policy)?.[1];
    assert.equal(
      policy,
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types plinth-worker`,
    );
    assert.ok(page.text.includes(`nonce="${nonce}"`));
  });

  it('has a new nonce in each response', async () => {
    const second = await server.http.send('/console/');
    assert.notEqual(
      second.headers['content-security-policy'],
      page.headers['content-security-policy'],
    );
  });

  it('has no inline script or style', () => {
    assert.doesNotMatch(page.text, /<script(?![^>]*\ssrc=)/);
    assert.doesNotMatch(page.text, /<style|\sstyle=|\son\w+=/);
  });

  it('serves the page at every page path, including names with dots', async () => {
    for (const path of ['explore', 'data/my.db/my.table', 'data/..%2f..%2fetc', 'nowhere/at/all']) {
      const response = await server.http.send(`/console/${path}`);
      assert.equal(response.status, 200, path);
      assert.equal(scriptOf(response), scriptOf(page), path);
    }
  });

  it('lets browsers cache hashed files forever', async () => {
    const script = scriptOf(page);
    assert.match(script, /^\/console\/assets\/[\w-]+\.js$/);
    const plain = await server.http.send(script);
    const { text } = plain;
    assert.equal(plain.status, 200);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(plain.headers['content-encoding'], undefined);
    const tag = String(plain.headers['etag']);
    assert.match(tag, /^W\/"\w+"$/); // Weak, because it is the same for all encodings.
    const again = await server.http.send(script, { headers: { 'if-none-match': tag } });
    assert.equal(again.status, 304);
    for (const [coding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const response = await server.http.send(script, { headers: { 'accept-encoding': coding } });
      assert.equal(response.headers['content-encoding'], coding);
      assert.equal(response.headers['vary'], 'Accept-Encoding');
      assert.equal(decode(response.bytes).toString(), text);
    }
  });

  it('serves no file outside its folder', async () => {
    for (const path of [
      'assets/../../package.json',
      'assets/..%2f..%2fpackage.json',
      'assets/%2e%2e/index.html',
      'assets/nothing.js',
      'package.json.js',
    ]) {
      const response = await server.http.send(`/console/${path}`);
      assert.ok(response.status !== 200 || scriptOf(response) === scriptOf(page), path);
    }
  });
});
