// Source: accounts, section 1 (vendor_word) and docs/STRIPE.md: both names for the official client.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import Stripe from 'stripe';
import { AccountsServer, type Json, KEYS } from '../../harness/index.js';

const PAGE = fileURLToPath(new URL('../../../../docs/STRIPE.md', import.meta.url));
const OTHER_WORD = 'a client uses a vendor name other than the configured one';

const clientOf = (server: AccountsServer): Stripe => {
  const { hostname, port } = new URL(server.process.url);
  return new Stripe(KEYS.sk_test, { host: hostname, port, protocol: 'http' });
};

/** Rows of the page's table for both words. */
function rowsOfPage(): string[][] {
  const section =
    readFileSync(PAGE, 'utf8')
      .split('\n## Use the name `vendor` or `stripe`\n')[1]
      ?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => /^\| [a-z]/.test(line));
  return rows.map((row) =>
    row
      .split('|')
      .slice(2, 4)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

async function responsesOf(stripe: Stripe): Promise<string[]> {
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

describe('the configured vendor name in responses', () => {
  it('matches the page for each setting, and a client with another word is logged once', async () => {
    const rows = rowsOfPage();
    assert.equal(rows.length, 3);
    for (const [index, flags] of [[], ['--accounts-vendor-word', 'stripe']].entries()) {
      await using server = await AccountsServer.start({ flags });
      const stripe = clientOf(server);
      assert.deepEqual(
        await responsesOf(stripe),
        rows.map((row) => row[index]),
        flags.join(' '),
      );
      for (let count = 0; count < 3; count++) await stripe.v2.core.accounts.list({ limit: 1 });
      await server.process.stop();
      const lines = server.process.logText.split('\n').filter((line) => line.includes(OTHER_WORD));
      assert.equal(lines.length, index === 0 ? 1 : 0, flags.join(' '));
    }
  });
});
