// Source: accounts, section 2.2: the official client, unmodified.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Stripe from 'stripe';
import { AccountsServer, type Json, KEYS } from '../../harness/index.js';

/** Separate server, because lists of all accounts are compared. */
let server: AccountsServer;
let stripe: Stripe;
before(async () => {
  server = await AccountsServer.start();
  stripe = clientOf(KEYS.sk_test);
});
after(async () => await server.close());

function clientOf(key: string): Stripe {
  const { hostname, port } = new URL(server.process.url);
  return new Stripe(key, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 });
}

/** Example from the seed. */
const FUREVER = {
  contact_email: 'furever@example.com',
  display_name: 'Furever',
  dashboard: 'full',
  identity: {
    country: 'us',
    entity_type: 'company',
    business_details: { registered_name: 'Furever' },
  },
  configuration: {
    customer: { capabilities: { automatic_indirect_tax: { requested: true } } },
    merchant: { capabilities: { card_payments: { requested: true } } },
  },
  defaults: { responsibilities: { fees_collector: 'stripe', losses_collector: 'stripe' } },
} as const;

describe('the official client', () => {
  it('creates, retrieves, updates, lists and closes accounts', async () => {
    const created: Json = await stripe.v2.core.accounts.create({
      ...FUREVER,
      include: ['configuration.customer', 'configuration.merchant', 'identity', 'defaults'],
    });
    const { prefix } = created.configuration.customer.billing.invoice;
    assert.match(created.id, /^acct_[0-9A-Za-z]{16}$/);
    assert.match(created.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(prefix, /^[0-9A-F]{8}$/);
    const active = { status: 'active', status_details: [] };
    assert.deepEqual(JSON.parse(JSON.stringify(created)), {
      id: created.id,
      object: 'v2.core.account',
      applied_configurations: ['customer', 'merchant'],
      closed: false,
      configuration: {
        customer: {
          applied: created.created,
          automatic_indirect_tax: {
            exempt: 'none',
            location: { country: 'US' },
            location_source: 'identity_address',
          },
          billing: { invoice: { custom_fields: [], next_sequence: 1, prefix } },
          capabilities: { automatic_indirect_tax: active },
        },
        merchant: {
          applied: created.created,
          capabilities: { card_payments: active, vendor_balance: { payouts: active } },
          card_payments: { decline_on: { avs_failure: false, cvc_failure: false } },
        },
        recipient: null,
      },
      contact_email: 'furever@example.com',
      contact_phone: null,
      created: created.created,
      dashboard: 'full',
      defaults: {
        currency: 'usd',
        locales: [],
        responsibilities: {
          fees_collector: 'vendor',
          losses_collector: 'vendor',
          requirements_collector: 'vendor',
        },
      },
      display_name: 'Furever',
      future_requirements: null,
      identity: {
        business_details: { registered_name: 'Furever' },
        country: 'US',
        entity_type: 'company',
      },
      livemode: false,
      metadata: {},
      requirements: null,
    });

    const retrieved: Json = await stripe.v2.core.accounts.retrieve(created.id);
    assert.equal(retrieved.display_name, 'Furever');
    assert.equal(retrieved.identity, null);
    assert.equal(retrieved.configuration, null);
    assert.match(retrieved.lastResponse.requestId, /^req_[0-9A-Za-z]{14}$/);
    assert.equal(retrieved.lastResponse.apiVersion, '2026-10-28.endive');

    const updated: Json = await stripe.v2.core.accounts.update(created.id, {
      display_name: 'Furever Ltd',
      metadata: { order: '6735' },
      include: ['identity'],
    });
    assert.equal(updated.display_name, 'Furever Ltd');
    assert.deepEqual(updated.metadata, { order: '6735' });
    assert.equal(updated.identity.country, 'US');

    const closed: Json = await stripe.v2.core.accounts.close(created.id, {
      applied_configurations: ['merchant', 'customer'],
    });
    assert.equal(closed.closed, true);
    const open: string[] = [];
    for await (const account of stripe.v2.core.accounts.list()) open.push(account.id);
    assert.ok(!open.includes(created.id));
    const all: string[] = [];
    for await (const account of stripe.v2.core.accounts.list({ closed: true }))
      all.push(account.id);
    assert.deepEqual(all, [created.id]);
  });

  it('pages automatically through a filtered list, newest first', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      const { id } = await stripe.v2.core.accounts.create({
        configuration: index % 2 === 0 ? { customer: {} } : {},
      });
      ids.unshift(id);
    }
    const listed: string[] = [];
    for await (const account of stripe.v2.core.accounts.list({ limit: 2 })) listed.push(account.id);
    assert.deepEqual(listed, ids);
    const customers: string[] = [];
    const filter = { limit: 1, applied_configurations: ['customer' as const] };
    for await (const account of stripe.v2.core.accounts.list(filter)) customers.push(account.id);
    assert.deepEqual(
      customers,
      ids.filter((_, index) => index % 2 === 0),
    );
  });

  it('creates, retrieves, updates, lists and deletes persons', async () => {
    const account = await stripe.v2.core.accounts.create({});
    const { persons } = stripe.v2.core.accounts;
    const ada: Json = await persons.create(account.id, {
      given_name: 'Ada',
      surname: 'Lovelace',
      date_of_birth: { day: 10, month: 12, year: 1915 },
      relationship: { owner: true, percent_ownership: Stripe.Decimal.from('33.3') },
      metadata: { role: 'founder' },
    });
    assert.match(ada.id, /^person_test_[0-9A-Za-z]{24}$/);
    assert.equal(ada.object, 'v2.core.account_person');
    assert.equal(ada.account, account.id);
    assert.equal(String(ada.relationship.percent_ownership), '33.3');
    const changed: Json = await persons.update(account.id, ada.id, { email: 'ada@example.com' });
    assert.equal(changed.email, 'ada@example.com');
    assert.equal(changed.given_name, 'Ada');
    assert.ok(changed.updated > ada.updated);
    const again: Json = await persons.retrieve(account.id, ada.id);
    assert.equal(again.email, 'ada@example.com');
    const bob = await persons.create(account.id, { given_name: 'Bob' });
    const listed: string[] = [];
    for await (const person of persons.list(account.id, { limit: 1 })) listed.push(person.id);
    assert.deepEqual(listed, [bob.id, ada.id]);
    const deleted: Json = await persons.del(account.id, bob.id);
    assert.deepEqual({ ...deleted }, { id: bob.id, object: 'v2.core.account_person' });
    await assert.rejects(persons.retrieve(account.id, bob.id), { code: 'not_found' });
  });

  it('uses person and account tokens once', async () => {
    const account = await stripe.v2.core.accounts.create({});
    const { persons, personTokens } = stripe.v2.core.accounts;
    const token: Json = await personTokens.create(account.id, {
      given_name: 'Grace',
      surname: 'Hopper',
    });
    assert.match(token.id, /^perstok_[0-9A-Za-z]{24}$/);
    assert.equal(token.used, false);
    assert.equal(Date.parse(token.expires_at) - Date.parse(token.created), 600_000);
    const person: Json = await persons.create(account.id, { person_token: token.id });
    assert.equal(person.given_name, 'Grace');
    const used: Json = await personTokens.retrieve(account.id, token.id);
    assert.equal(used.used, true);
    await assert.rejects(persons.create(account.id, { person_token: token.id }), {
      code: 'token_already_used',
    });
    const accountToken = await stripe.v2.core.accountTokens.create({ display_name: 'By token' });
    const made: Json = await stripe.v2.core.accounts.create({ account_token: accountToken.id });
    assert.equal(made.display_name, 'By token');
    const shown: Json = await stripe.v2.core.accountTokens.retrieve(accountToken.id);
    assert.equal(shown.used, true);
  });

  it('creates, advances, lists and deletes test clocks', async () => {
    const { testClocks } = stripe.testHelpers;
    const frozen_time = 1_800_000_000;
    const clock = await testClocks.create({ frozen_time, name: 'Monthly' });
    assert.match(clock.id, /^clock_/);
    assert.equal(clock.object, 'test_helpers.test_clock');
    const advanced = await testClocks.advance(clock.id, { frozen_time: frozen_time + 3600 });
    assert.equal(advanced.status, 'advancing');
    const { data } = await testClocks.list();
    assert.deepEqual(
      data.map(({ id }) => id),
      [clock.id],
    );
    await testClocks.del(clock.id);
    await assert.rejects(testClocks.retrieve(clock.id), { statusCode: 404 });
  });

  it('converts errors into its own classes', async () => {
    const { accounts } = stripe.v2.core;
    const check = async (call: Promise<unknown>, type: string, code: string) =>
      await assert.rejects(call, (error: Json) => {
        assert.equal(error.type, type);
        assert.equal(error.code, code);
        assert.match(error.requestId, /^req_/);
        return true;
      });
    await check(
      accounts.create({ identity: { country: 'zz' as never } }),
      'StripeInvalidRequestError',
      'invalid_fields',
    );
    await check(accounts.retrieve('acct_unknown'), 'StripeInvalidRequestError', 'not_found');
    await check(
      clientOf('sk_test_000000000000000000000000').v2.core.accounts.retrieve('acct_1'),
      'StripeAuthenticationError',
      'api_key_invalid',
    );
    await check(
      clientOf(KEYS.pk_test).v2.core.accounts.retrieve('acct_1'),
      'StripePermissionError',
      'secret_key_required',
    );
    const idempotencyKey = 'used-for-two-things';
    await accounts.create({ display_name: 'one' }, { idempotencyKey });
    await check(
      accounts.create({ display_name: 'two' }, { idempotencyKey }),
      'StripeIdempotencyError',
      'idempotency_error',
    );
    await server.withSettings({ update_concurrency_limit: 0 }, async () => {
      await check(accounts.create({}), 'RateLimitError', 'account_rate_limit_exceeded');
    });
  });

  it('retries a request after a broken connection and creates one account', async () => {
    const { hostname, port } = new URL(server.process.url);
    let attemptCount = 0;
    const fetchFn: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      attemptCount += 1;
      if (attemptCount > 1) return response;
      await response.arrayBuffer();
      throw new TypeError('connection reset after the request was handled');
    };
    const unlucky = new Stripe(KEYS.sk_test, {
      host: hostname,
      port,
      protocol: 'http',
      maxNetworkRetries: 2,
      httpClient: Stripe.createFetchHttpClient(fetchFn),
    });
    const account: Json = await unlucky.v2.core.accounts.create({ display_name: 'Once' });
    assert.equal(attemptCount, 2);
    const named: string[] = [];
    for await (const each of stripe.v2.core.accounts.list({ limit: 100 })) {
      if (each.display_name === 'Once') named.push(each.id);
    }
    assert.deepEqual(named, [account.id]);
  });
});

describe('official clients with checked types', () => {
  const CLIENTS = [
    'Stripe/v2 GoBindings/85.0.0',
    'Stripe/v1 JavaBindings/32.0.0',
    'Stripe/v1 .NetBindings/50.0.0',
  ];
  const body = { configuration: { customer: {} }, include: ['configuration.customer'] };

  it('section 1: get the declared boolean on creation, update and retrieval', async () => {
    for (const agent of CLIENTS) {
      const headers = { 'user-agent': agent };
      const created = await server.create(body, { headers });
      assert.equal(created.configuration.customer.applied, true, agent);
      const path = `/v2/core/accounts/${created.id}`;
      const { include } = body;
      const updated = await server.ok(path, {
        body: { configuration: { customer: { applied: false } }, include },
        headers,
      });
      assert.equal(updated.configuration.customer.applied, false, agent);
      const read = await server.ok(`${path}?include=configuration.customer`, { headers });
      assert.equal(read.configuration.customer.applied, false, agent);
    }
  });

  it('section 1: get a timestamp otherwise, as the documentation shows', async () => {
    for (const agent of [
      'Stripe/v2 NodeBindings/23.1.0',
      'Stripe/v2 PythonBindings/16.1.0',
      'Go',
    ]) {
      const created = await server.create(body, { headers: { 'user-agent': agent } });
      const { applied } = created.configuration.customer;
      assert.match(applied, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, agent);
    }
  });
});
