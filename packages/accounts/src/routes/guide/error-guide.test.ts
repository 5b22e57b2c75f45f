// Source: accounts, section 2.5. `doc_url` points to a page of this server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { merchant } from '../../testing/account-bodies.js';
import { TestServer, testServer } from '../../testing/test-server.js';

const server = testServer();

describe('the page of error codes', () => {
  it('is the target of doc_url, needs no key and explains the code', async () => {
    const platform = await server.platform({ state: 'invalid' });
    const refused = await platform.call('accounts', merchant());
    const { error } = JSON.parse(refused.text) as { error: { doc_url: string } };
    const { pathname, hash } = new URL(error.doc_url);
    const page = await server.send(pathname);
    assert.equal(page.status, 200);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    const anchor = hash.slice(1);
    assert.equal(anchor, 'cannot_create_connected_account');
    assert.match(page.text, new RegExp(`<h2 id="${anchor}">${anchor}</h2>`));
  });

  it("uses the operator's word", async () => {
    await using named = new TestServer({ 'accounts-vendor-word': 'stripe' });
    const response = await named.send('/docs/accounts/errors');
    assert.match(response.text, /<h2 id="stripe_loss_liable_cannot_be_deleted">/);
    assert.doesNotMatch(response.text, /vendor/);
  });

  it('has every code once', async () => {
    const { text } = await server.send('/docs/accounts/errors');
    const ids = [...text.matchAll(/<h2 id="([a-z0-9_]+)">/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    // 97 codes of section 13, 38 more of section 14, and the general ones of section 2.5.
    assert.ok(ids.length >= 155, String(ids.length));
  });
});
