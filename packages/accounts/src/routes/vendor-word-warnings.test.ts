// Source: accounts, section 1 (vendor_word) and docs/STRIPE.md.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEYS, TestAccounts } from '../testing/test-accounts.js';

const ACCOUNTS = '/v2/core/accounts';
const OTHER_WORD = 'a client uses a vendor name other than the configured one';
/** Headers of the official client. */
const VERSION = { 'stripe-version': '2026-10-28.endive' };
const AGENT = { 'user-agent': 'Stripe/v2 NodeBindings/1' };

const linesOf = ({ logged }: TestAccounts) => logged.filter((line) => line.includes(OTHER_WORD));

describe('a client with another vendor name', () => {
  it('is logged once, whether the version header or the user agent names the word', async () => {
    for (const headers of [VERSION, AGENT, { ...VERSION, ...AGENT }]) {
      await using server = new TestAccounts();
      await server.ok(ACCOUNTS);
      assert.deepEqual(linesOf(server), [], 'a client without a word of its own');
      for (let index = 0; index < 3; index++) await server.ok(ACCOUNTS, { headers });
      await server.ok(ACCOUNTS, { headers: VERSION });
      const [text = '', ...others] = linesOf(server);
      assert.deepEqual(others, []);
      const line = JSON.parse(text);
      assert.equal(line.word, 'vendor');
      assert.equal(line.client_word, 'stripe');
      assert.equal(line.remedy, 'set accounts.vendor_word to stripe if these are your clients');
      assert.doesNotMatch(text, new RegExp(KEYS.sk_test));
    }
  });

  it('is not logged if the words agree, or without a valid key', async () => {
    await using same = new TestAccounts({ 'accounts-vendor-word': 'stripe' });
    const headers = { ...VERSION, ...AGENT };
    await same.ok(ACCOUNTS, { headers });
    await using other = new TestAccounts();
    const invalid = { status: 401, code: 'api_key_invalid' };
    await other.refused(ACCOUNTS, { key: 'sk_test_nobody', headers }, invalid);
    assert.deepEqual([...linesOf(same), ...linesOf(other)], []);
  });

  it("is logged if the server's own word is not an alias", async () => {
    const flags = { 'accounts-vendor-word': 'acme', 'accounts-vendor-word-aliases': 'stripe' };
    await using server = new TestAccounts(flags);
    await server.ok(ACCOUNTS, { headers: VERSION });
    const [text = ''] = linesOf(server);
    assert.equal(JSON.parse(text).word, 'acme');
  });
});
