// Source: accounts, section 1 (vendor_word) and docs/CLIENTS.md: both words for the official client.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import Stripe from 'stripe';
import { AccountsServer, type Json, KEYS } from '../../harness/index.js';

const PAGE = fileURLToPath(new URL('../../../../docs/CLIENTS.md', import.meta.url));
const OTHER_WORD = 'a client speaks of another vendor word than answers do';

const clientOf = (server: AccountsServer): Stripe => {
  const { hostname, port } = new URL(server.process.url);
  return new Stripe(KEYS.sk_test, { host: hostname, port, protocol: 'http' });
};

/** What the page's table says of both words. */
function rowsOfPage(): string[][] {
  const section = readFileSync(PAGE, 'utf8').split('\n## Stripe\n')[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => /^\| (?!Answer)[a-z]/.test(line));
  return rows.map((row) =>
    row
      .split('|')
      .slice(2, 4)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

async function answersOf(stripe: Stripe): Promise<string[]> {
  const account: Json = await stripe.v2.core.accounts.create({
    display_name: 'Furever',
    dashboard: 'full',
    identity: { country: 'us', entity_type: 'company' },
    configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
    defaults: { responsibilities: { fees_collector: 'stripe', losses_collector: 'stripe' } },
    include: ['configuration.merchant', 'defaults'],
  });
  const balance = Object.keys(account.configuration.merchant.capabilities).find((name) =>
    name.endsWith('_balance'),
  );
  const refused: Json = await stripe.v2.core.accounts
    .create({
      dashboard: 'full',
      configuration: { merchant: {} },
      defaults: { responsibilities: { fees_collector: 'stripe', losses_collector: 'application' } },
    })
    .catch((error: unknown) => error);
  return [account.defaults.responsibilities.fees_collector, balance ?? '', refused.code];
}

const linesOf = (server: AccountsServer) =>
  server.process.logText.split('\n').filter((line) => line.includes(OTHER_WORD));

describe('the word of the operator in answers', () => {
  it('is the one that the page names for each setting', async () => {
    const rows = rowsOfPage();
    assert.equal(rows.length, 3);
    for (const [index, flags] of [[], ['--accounts-vendor-word', 'stripe']].entries()) {
      await using server = await AccountsServer.start({ flags });
      assert.deepEqual(
        await answersOf(clientOf(server)),
        rows.map((row) => row[index]),
        flags.join(' '),
      );
    }
  });

  it('is told once in the log when the official client asks a server with another one', async () => {
    await using server = await AccountsServer.start();
    const stripe = clientOf(server);
    await server.ok('/v2/core/accounts');
    assert.deepEqual(linesOf(server), [], 'a client without a word of its own');
    for (let index = 0; index < 3; index++) await stripe.v2.core.accounts.list({ limit: 1 });
    await server.ok('/v2/core/accounts', { headers: { 'stripe-version': '2026-10-28.endive' } });
    await server.process.stop();
    assert.equal(linesOf(server).length, 1);
    const line = server.process.logged(OTHER_WORD);
    assert.equal(line?.['word'], 'vendor');
    assert.equal(line?.['client_word'], 'stripe');
    assert.equal(line?.['remedy'], 'set accounts.vendor_word to stripe if these are your clients');
    assert.doesNotMatch(JSON.stringify(line), new RegExp(KEYS.sk_test));
  });

  it('is not told where the words agree, nor to who has no valid key', async () => {
    await using same = await AccountsServer.start({ flags: ['--accounts-vendor-word', 'stripe'] });
    await clientOf(same).v2.core.accounts.list({ limit: 1 });
    await using other = await AccountsServer.start();
    const headers = {
      'stripe-version': '2026-10-28.endive',
      'user-agent': 'Stripe/v2 NodeBindings/1',
    };
    await other.send('/v2/core/accounts', { key: 'sk_test_nobody', headers });
    for (const server of [same, other]) {
      await server.process.stop();
      assert.deepEqual(linesOf(server), []);
    }
  });

  it('a server with the word of that client tells of one that speaks of another', async () => {
    const flags = ['--accounts-vendor-word', 'acme', '--accounts-vendor-word-aliases', 'stripe'];
    await using server = await AccountsServer.start({ flags });
    await server.ok('/v2/core/accounts', { headers: { 'stripe-version': '2026-10-28.endive' } });
    await server.process.stop();
    assert.equal(server.process.logged(OTHER_WORD)?.['word'], 'acme');
  });
});
