// Source: accounts, sections 1, 4, 16.5 and 18.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnyJson, TestAccounts, testAccounts } from '../../testing/test-accounts.js';
import { OPERATOR_HEADERS } from '../../testing/test-server.js';

const server = testAccounts();

const ACCOUNTS = '/v2/core/accounts';
const PLATFORM = 'platforms/plat_default';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');

describe('operator API', () => {
  it('merge-patches settings and rejects unknown ones', async () => {
    const before = await server.settings({});
    assert.equal(before.id, 'plat_default');
    assert.equal(before.country, 'US');
    const after = await server.settings({ activated: { live: false }, country: 'de' });
    assert.deepEqual(after.activated, { test: true, live: false });
    assert.equal(after.country, 'DE');
    assert.deepEqual(await server.settings({ activated: null, country: null }), before);
    const response = await server.sendOps('PATCH', PLATFORM, { colour: 'red', age_limit: 'ten' });
    assert.equal(response.status, 400);
    assert.deepEqual(
      JSON.parse(response.text)
        .error.invalid_fields.map(({ field }: AnyJson) => field)
        .sort(),
      ['age_limit', 'colour'],
    );
  });

  it('sets id and creation time of a platform only once', async () => {
    const before = await server.settings({});
    // A record may be sent back unchanged.
    assert.deepEqual(await server.settings(before), before);
    for (const body of [
      { id: 'plat_other' },
      { id: null },
      { created: '2020-01-01T00:00:00.000Z' },
      { no_such_setting: null },
    ]) {
      const { status, text } = await server.sendOps('PATCH', PLATFORM, {
        ...body,
        name: 'Changed',
      });
      assert.equal(status, 400, text);
      const { code, param } = JSON.parse(text).error;
      assert.deepEqual([code, param], ['invalid_fields', Object.keys(body)[0]]);
    }
    const made = await server.sendOps('POST', 'platforms', { id: 'plat_mine' });
    assert.equal(JSON.parse(made.text).error?.param, 'id', made.text);
    assert.deepEqual(await server.settings({}), before);
  });

  it('accepts a record with lists of maximum length', async () => {
    const many = (suffix: string) =>
      Array.from({ length: 9000 }, (_, index) => `${index}${suffix}`);
    const lists = {
      recipient_blocked_email_domains: many('.example'),
      sepa_blocked_creditor_ids: many('A'),
      sepa_vendor_creditor_ids: many('B'),
    };
    for (const [name, list] of Object.entries(lists)) await server.settings({ [name]: list });
    const full = await server.settings({});
    assert.deepEqual(await server.settings(full), full);
    assert.deepEqual(full.sepa_vendor_creditor_ids, lists.sepa_vendor_creditor_ids);
    await server.settings(Object.fromEntries(Object.keys(lists).map((name) => [name, null])));
  });

  it('creates and revokes keys, and shows them once', async () => {
    const made = await server.operate(`${PLATFORM}/keys`, { kind: 'secret', livemode: true });
    assert.match(made.id, /^key_/);
    assert.match(made.value, /^sk_live_[0-9A-Za-z]{24,}$/);
    const listed = await server.operate(`${PLATFORM}/keys`);
    const shown = listed.data.find(({ id }: AnyJson) => id === made.id);
    assert.equal(shown.last4, made.value.slice(-4));
    assert.ok(!JSON.stringify(listed).includes(made.value));
    await server.ok(ACCOUNTS, { key: made.value });
  });

  it('creates files, payment methods and templates that accounts can refer to', async () => {
    const file = await server.operate(`${PLATFORM}/files`, {
      purpose: 'business_logo',
      filename: 'logo.png',
      content_base64: PNG,
      livemode: false,
    });
    const method = await server.operate(`${PLATFORM}/payment_methods`, {
      type: 'card',
      livemode: false,
    });
    const template = await server.operate(`${PLATFORM}/invoice_templates`, { livemode: false });
    const identity = { country: 'us' };
    const body = { identity, configuration: { merchant: { branding: { logo: file.id } } } };
    const account = await server.create({ ...body, include: ['configuration.merchant'] });
    assert.equal(account.configuration.merchant.branding.logo, file.id);
    await server.refused(ACCOUNTS, { body }, { code: 'document_invalid' });
    assert.match(method.id, /^pm_/);
    await server.create({
      configuration: {
        customer: { billing: { invoice: { rendering: { template: template.id } } } },
      },
    });
    await server.refused(
      ACCOUNTS,
      {
        key: 'sk_live',
        body: {
          configuration: {
            customer: { billing: { invoice: { rendering: { template: template.id } } } },
          },
        },
      },
      { code: 'invoice_rendering_template_invalid' },
    );
  });

  it('accepts a file of 10 MiB despite the smaller limit of other bodies, and rejects a larger one', async () => {
    const pngOf = (sizeBytes: number) => {
      const content = Buffer.alloc(sizeBytes);
      content.write(PNG, 'base64');
      return {
        purpose: 'business_logo',
        filename: 'logo.png',
        content_base64: content.toString('base64'),
      };
    };
    const limit = 10 * 1024 * 1024;
    const path = `${PLATFORM}/files`;
    const file = await server.operate(path, { ...pngOf(limit), livemode: false });
    assert.equal(file.size, limit);
    const larger = { ...pngOf(limit + 1), livemode: false };
    const refused = await server.sendOps('POST', path, larger);
    assert.equal(refused.status, 400, refused.text);
    // A body with too large a declared length is not read.
    const headers = { ...OPERATOR_HEADERS, 'content-length': String(15 * 1024 * 1024 + 1) };
    const unread = await server.send(`/ops/v1/accounts/${path}`, { method: 'POST', headers });
    assert.equal(unread.status, 413, unread.text);
    assert.equal(JSON.parse(unread.text).error.code, 'request_too_large');
  });

  it('sets facts of an account and adds requirements, with events', async () => {
    const { id } = await server.create({
      identity: { country: 'us' },
      configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
    });
    const at = `${PLATFORM}/accounts/${id}`;
    const status = async () =>
      (await server.ok(`${ACCOUNTS}/${id}?include=configuration.merchant`)).configuration.merchant
        .capabilities.card_payments;
    const entry = await server.operate(`${at}/requirements`, {
      description: 'interview',
      awaiting_action_from: 'user',
      restricts: [{ configuration: 'merchant', capability: 'card_payments', status: 'past_due' }],
    });
    assert.deepEqual(await status(), {
      status: 'restricted',
      status_details: [{ code: 'requirements_past_due', resolution: 'provide_info' }],
    });
    await server.operate(`${at}/requirements/${entry.id}`, undefined, 'DELETE');
    assert.equal((await status()).status, 'active');
    await server.operate(`${at}/state`, { reject: { reason: 'fraud' } }, 'PATCH');
    assert.deepEqual(await status(), {
      status: 'rejected',
      status_details: [{ code: 'rejected_fraud', resolution: 'contact_vendor' }],
    });
    const [event] = (await server.ok(`/v2/core/events?object_id=${id}&limit=1`)).data;
    assert.equal(event.reason, null);
  });

  it('ends the grace period by a tick', async () => {
    const { id } = await server.create({
      identity: { country: 'us', entity_type: 'company' },
      configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
    });
    const card = async () =>
      (await server.ok(`${ACCOUNTS}/${id}?include=configuration.merchant`)).configuration.merchant
        .capabilities.card_payments.status;
    assert.equal(await card(), 'active');
    const now = new Date(server.clock.nowMs() + 8 * 86_400_000).toISOString();
    await server.operate(`${PLATFORM}/tick`, { now });
    assert.equal(await card(), 'restricted');
  });
});

describe('the vendor name', () => {
  it('is the configured one in every response, and requests may use both', async () => {
    await using named = new TestAccounts({ 'accounts-vendor-word': 'stripe' });
    const account = await named.create({
      display_name: 'vendor of stripes',
      identity: { country: 'us', entity_type: 'company' },
      configuration: {
        merchant: { capabilities: { card_payments: { requested: true } } },
        recipient: {
          capabilities: { stripe_balance: { stripe_transfers: { requested: true } } },
        },
      },
      defaults: {
        responsibilities: { fees_collector: 'stripe', losses_collector: 'stripe' },
      },
      include: ['configuration.merchant', 'configuration.recipient', 'defaults', 'requirements'],
    });
    assert.equal(account.display_name, 'vendor of stripes');
    assert.deepEqual(
      { ...account.defaults.responsibilities },
      {
        fees_collector: 'stripe',
        losses_collector: 'stripe',
        requirements_collector: 'stripe',
      },
    );
    const { merchant, recipient } = account.configuration;
    assert.equal(merchant.capabilities.stripe_balance.payouts.status, 'active');
    assert.equal(recipient.capabilities.stripe_balance.stripe_transfers.status, 'active');
    assert.doesNotMatch(JSON.stringify({ ...account, display_name: '' }), /vendor/);
    const error = await named.refused(
      ACCOUNTS,
      {
        body: {
          identity: { country: 'us' },
          dashboard: 'full',
          configuration: { merchant: {} },
          defaults: {
            responsibilities: { fees_collector: 'vendor', losses_collector: 'application' },
          },
        },
      },
      { code: 'account_controller_stripe_pricing_platform_liable' },
    );
    assert.doesNotMatch(JSON.stringify(error), /vendor/);
    const { data } = await named.ok(`/v2/core/events?object_id=${account.id}&limit=100`);
    assert.doesNotMatch(JSON.stringify(data), /vendor_/);
  });
});
