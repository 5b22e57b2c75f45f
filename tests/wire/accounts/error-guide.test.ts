// Source: accounts, section 2.5: doc_url leads to a page of this server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { merchant, RuleBench } from './rule-bench.js';

describe('the page of error codes', () => {
  let bench: RuleBench;
  before(async () => {
    bench = await RuleBench.start();
  });
  after(async () => {
    await bench[Symbol.asyncDispose]();
  });

  it('is where doc_url leads, without a key, and explains that code', async () => {
    const platform = await bench.platform({ state: 'invalid' });
    const refused = await platform.call('accounts', merchant());
    const { error } = JSON.parse(refused.text) as { error: { doc_url: string } };
    const page = await fetch(error.doc_url);
    assert.equal(page.status, 200);
    assert.match(String(page.headers.get('content-type')), /^text\/html/);
    const text = await page.text();
    const anchor = new URL(error.doc_url).hash.slice(1);
    assert.equal(anchor, 'cannot_create_connected_account');
    assert.match(text, new RegExp(`<h2 id="${anchor}">${anchor}</h2>`));
  });

  it("speaks with the operator's word", async () => {
    await using named = await RuleBench.start(['--accounts-vendor-word', 'stripe']);
    const answer = await named.server.http.send('/docs/accounts/errors');
    assert.match(answer.text, /<h2 id="stripe_loss_liable_cannot_be_deleted">/);
    assert.doesNotMatch(answer.text, /vendor/);
  });

  it('has every code once', async () => {
    const { text } = await bench.server.http.send('/docs/accounts/errors');
    const ids = [...text.matchAll(/<h2 id="([a-z0-9_]+)">/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    // 97 of section 13, 38 of section 14 beyond them, and the general ones of section 2.5.
    assert.ok(ids.length >= 155, String(ids.length));
  });
});
