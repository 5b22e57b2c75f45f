// Source: docs/METRICS.md, "accounts". What is expected is counted by the test itself.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccountsServer } from '../../harness/index.js';

const ACCOUNTS = '/v2/core/accounts';
const PATIENCE_MS = 90_000;

let server: AccountsServer;
before(async () => {
  server = await AccountsServer.start();
});
after(async () => await server.close());

async function numbers(): Promise<ReadonlyMap<string, number>> {
  const { text } = await server.process.http.send('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('accounts_'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** Waits until all of them are so; what is counted behind the scenes is up to a minute old. */
async function become(expected: Readonly<Record<string, number>>): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; ; ) {
    const found = await numbers();
    const seen = Object.fromEntries(Object.keys(expected).map((name) => [name, found.get(name)]));
    if (Object.entries(expected).every(([name, value]) => seen[name] === value)) return;
    if (Date.now() >= endMs) assert.deepEqual(seen, expected);
    await sleep(250);
  }
}

describe('numbers of accounts', () => {
  it('say what is stored, by mode, state and configuration', async () => {
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

  it('count events as a list of all events does', async () => {
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
    assert.equal((await numbers()).get('accounts_events_total'), count);
  });

  it('count repeats by what became of them', async () => {
    const call = { body: { display_name: 'Once' }, idempotencyKey: randomUUID() };
    await server.ok(ACCOUNTS, call);
    await server.ok(ACCOUNTS, call);
    await server.ok(ACCOUNTS, call);
    const other = { ...call, body: { display_name: 'Twice' } };
    const answer = await server.send(ACCOUNTS, other);
    assert.equal(JSON.parse(answer.text).error.code, 'idempotency_error', answer.text);
    await become({
      'accounts_repeated_requests_total{outcome="replayed"}': 2,
      'accounts_repeated_requests_total{outcome="other_parameters"}': 1,
      'accounts_repeated_requests_total{outcome="in_use"}': 0,
    });
  });

  it('count tokens by what became of them', async () => {
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
});
