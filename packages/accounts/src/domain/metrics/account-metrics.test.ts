// Source: docs/METRICS.md, "accounts". The test computes the expected values itself.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestAccounts, testAccounts } from '../../testing/test-accounts.js';

const ACCOUNTS = '/v2/core/accounts';
/** Rows are counted in the background, at most once a minute. */
const COUNTED_EVERY_MS = 60_000;

const server = testAccounts();

async function readMetrics({
  metrics,
}: TestAccounts = server): Promise<ReadonlyMap<string, number>> {
  const lines = (await metrics.page()).text.split('\n').filter((line) => /^accounts_/.test(line));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** Reads the metrics again after the next count. */
async function become(expected: Readonly<Record<string, number>>, of = server): Promise<void> {
  await of.clock.advanceMs(COUNTED_EVERY_MS);
  for (let round = 0; ; round += 1) {
    const found = await readMetrics(of);
    const seen = Object.fromEntries(Object.keys(expected).map((name) => [name, found.get(name)]));
    if (Object.entries(expected).every(([name, value]) => seen[name] === value)) return;
    if (round === 400) assert.deepEqual(seen, expected);
    await sleep(5); // the store does not use the test clock
  }
}

describe('account metrics', () => {
  it('report stored accounts by mode, state and configuration', async () => {
    const customer = {
      contact_email: 'a@example.com',
      identity: { country: 'us' },
      configuration: { customer: {} },
    };
    for (let n = 0; n < 3; n += 1) await server.create({ display_name: `Plain ${n}` });
    for (let n = 0; n < 2; n += 1) await server.create(customer);
    await server.create({ display_name: 'Live' }, { key: 'sk_live' });
    const closing = await server.create({ display_name: 'To be closed' });
    await server.ok(`${ACCOUNTS}/${closing.id}/close`, { body: {} });
    const { id } = await server.create(customer);
    for (const given_name of ['Jenny', 'John']) {
      await server.ok(`${ACCOUNTS}/${id}/persons`, { body: { given_name } });
    }
    await become({
      'accounts_accounts{mode="test",state="open"}': 6,
      'accounts_accounts{mode="test",state="closed"}': 1,
      'accounts_accounts{mode="live",state="open"}': 1,
      'accounts_accounts{mode="live",state="closed"}': 0,
      'accounts_configured{mode="test",configuration="customer"}': 3,
      'accounts_configured{mode="test",configuration="merchant"}': 0,
      'accounts_configured{mode="live",configuration="customer"}': 0,
      'accounts_persons{mode="test"}': 2,
      'accounts_persons{mode="live"}': 0,
    });
  });

  it('count the same events as a list of all events', async () => {
    let count = 0;
    for (const key of ['sk_test', 'sk_live'] as const) {
      for (let path = '/v2/core/events?limit=100'; ; ) {
        const { data, next_page_url } = await server.ok(path, { key });
        count += data.length;
        if (next_page_url === null) break;
        path = next_page_url;
      }
    }
    assert.ok(count > 0);
    assert.equal((await readMetrics()).get('accounts_events_total'), count);
  });

  it('count repeated requests by outcome', async () => {
    const call = { body: { display_name: 'Once' }, idempotencyKey: randomUUID() };
    await server.ok(ACCOUNTS, call);
    await server.ok(ACCOUNTS, call);
    await server.ok(ACCOUNTS, call);
    const other = { ...call, body: { display_name: 'Twice' } };
    const response = await server.call(ACCOUNTS, other);
    assert.equal(JSON.parse(response.text).error.code, 'idempotency_error', response.text);
    await become({
      'accounts_repeated_requests_total{outcome="replayed"}': 2,
      'accounts_repeated_requests_total{outcome="other_parameters"}': 1,
      'accounts_repeated_requests_total{outcome="in_use"}': 0,
    });
  });

  it('count tokens by outcome', async () => {
    const tokens = '/v2/core/account_tokens';
    const make = async () => await server.ok(tokens, { body: { display_name: 'From a token' } });
    const { id: account_token } = await make();
    await server.create({ account_token });
    await make();
    const { id } = await server.create({ display_name: 'With a person token' });
    await server.ok(`${ACCOUNTS}/${id}/person_tokens`, { body: { given_name: 'Jenny' } });
    await server.ok(`${ACCOUNTS}/${id}/close`, { body: {} });
    await become({
      'accounts_tokens_total{kind="account",outcome="created"}': 2,
      'accounts_tokens_total{kind="account",outcome="used"}': 1,
      'accounts_tokens_total{kind="account",outcome="expired"}': 0,
      'accounts_tokens_total{kind="account",outcome="voided"}': 0,
      'accounts_tokens_total{kind="person",outcome="created"}': 1,
      'accounts_tokens_total{kind="person",outcome="used"}': 0,
      'accounts_tokens_total{kind="person",outcome="expired"}': 0,
      'accounts_tokens_total{kind="person",outcome="voided"}': 1,
    });
  });

  it('count only tokens that expired unused', async () => {
    await using brief = new TestAccounts({ 'accounts-token-ttl-sec': '20' });
    const make = async () =>
      await brief.ok('/v2/core/account_tokens', { body: { display_name: 'From a token' } });
    const { id: account_token } = await make();
    await brief.create({ account_token });
    await make();
    await make();
    await brief.clock.advanceMs(10_000);
    const expired = 'accounts_tokens_total{kind="account",outcome="expired"}';
    assert.equal((await readMetrics(brief)).get(expired), 0);
    await become({ [expired]: 2 }, brief);
  });
});
