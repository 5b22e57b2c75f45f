// Source: accounts, sections 1, 4, 16.5, 18 and 19.
import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import {
  AccountsServer,
  type Json,
  KEYS,
  RawConnection,
  ServerProcess,
} from '../../harness/index.js';

let server: AccountsServer;
before(async () => {
  server = await AccountsServer.start();
});
after(async () => await server.close());

const ACCOUNTS = '/v2/core/accounts';
const PLATFORM = '/platforms/plat_default';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');

describe('the operator', () => {
  it('merge-patches settings, and is told what is no setting', async () => {
    const before = await server.settings({});
    assert.equal(before.id, 'plat_default');
    assert.equal(before.country, 'US');
    const after = await server.settings({ activated: { live: false }, country: 'de' });
    assert.deepEqual(after.activated, { test: true, live: false });
    assert.equal(after.country, 'DE');
    assert.deepEqual(await server.settings({ activated: null, country: null }), before);
    const answer = await server.process.http.send(`/ops/v1/accounts${PLATFORM}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ colour: 'red', age_limit: 'ten' }),
    });
    assert.equal(answer.status, 400);
    assert.deepEqual(
      JSON.parse(answer.text)
        .error.invalid_fields.map(({ field }: Json) => field)
        .sort(),
      ['age_limit', 'colour'],
    );
  });

  it('gives a platform its id and its instant of creation once', async () => {
    const patch = async (body: unknown) =>
      await server.process.http.send(`/ops/v1/accounts${PLATFORM}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const before = await server.settings({});
    // A record may be sent back as it was answered.
    assert.deepEqual(await server.settings(before), before);
    for (const body of [
      { id: 'plat_other' },
      { id: null },
      { created: '2020-01-01T00:00:00.000Z' },
      { no_such_setting: null },
    ]) {
      const { status, text } = await patch({ ...body, name: 'Changed' });
      assert.equal(status, 400, text);
      const { code, param } = JSON.parse(text).error;
      assert.deepEqual([code, param], ['invalid_fields', Object.keys(body)[0]]);
    }
    const made = await server.process.http.send('/ops/v1/accounts/platforms', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'plat_mine' }),
    });
    assert.equal(JSON.parse(made.text).error?.param, 'id', made.text);
    assert.deepEqual(await server.settings({}), before);
  });

  it('takes back a record with all that its lists may hold', async () => {
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

  it('makes and revokes keys; shows them once', async () => {
    const made = await server.operate(`${PLATFORM}/keys`, { kind: 'secret', livemode: true });
    assert.match(made.id, /^key_/);
    assert.match(made.value, /^sk_live_[0-9A-Za-z]{24,}$/);
    const listed = await server.operate(`${PLATFORM}/keys`);
    const shown = listed.data.find(({ id }: Json) => id === made.id);
    assert.equal(shown.last4, made.value.slice(-4));
    assert.ok(!JSON.stringify(listed).includes(made.value));
    await server.ok(ACCOUNTS, { key: made.value });
  });

  it('needs its token', async () => {
    const guarded = await ServerProcess.start({ flags: ['--services', 'accounts'] });
    try {
      const path = '/ops/v1/accounts/platforms';
      const answer = await guarded.http.send(path);
      assert.equal(answer.status, 401);
      assert.equal(JSON.parse(answer.text).error.code, 'operator_token_required');
      const created = await guarded.http.send('/api/v3/configure/token/admin', { method: 'POST' });
      const { token } = JSON.parse(created.text);
      const headers = { authorization: `Bearer ${token}` };
      const allowed = await guarded.http.send(path, { headers });
      assert.equal(allowed.status, 200, allowed.text);
      assert.equal(JSON.parse(allowed.text).data[0].id, 'plat_default');
    } finally {
      await guarded.close();
    }
  });

  it('makes files, payment methods and templates, which accounts then refer to', async () => {
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

  it('takes a file of 10 MiB, although other bodies are smaller, and none that is larger', async () => {
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
    const larger = await server.process.http.send(`/ops/v1/accounts${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...pngOf(limit + 1), livemode: false }),
    });
    assert.equal(larger.status, 400, larger.text);
    // What says that it is larger still is not read.
    using connection = await RawConnection.open(server.process.url);
    const head = `POST /ops/v1/accounts${path} HTTP/1.1\r\nHost: localhost\r\n`;
    connection.send(`${head}Content-Length: ${15 * 1024 * 1024 + 1}\r\n\r\n`);
    await connection.until(/^HTTP\/1\.1 413 [\s\S]*"code":"request_too_large"/);
  });

  it('states facts of an account and injects requirements, with events', async () => {
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

  it('the grace ends by a tick', async () => {
    const { id } = await server.create({
      identity: { country: 'us', entity_type: 'company' },
      configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
    });
    const card = async () =>
      (await server.ok(`${ACCOUNTS}/${id}?include=configuration.merchant`)).configuration.merchant
        .capabilities.card_payments.status;
    assert.equal(await card(), 'active');
    const now = new Date(Date.now() + 8 * 86_400_000).toISOString();
    await server.operate(`${PLATFORM}/tick`, { now });
    assert.equal(await card(), 'restricted');
  });
});

describe('secrets', () => {
  it('numbers of ids, contents of tokens and keys are in no answer, event, log or file', async () => {
    const number = '987654321';
    const { id } = await server.create({
      identity: {
        country: 'us',
        entity_type: 'company',
        business_details: { id_numbers: [{ type: 'us_ein', value: number }] },
      },
      include: ['identity'],
    });
    const account = await server.ok(`${ACCOUNTS}/${id}?include=identity`);
    assert.deepEqual(account.identity.business_details.id_numbers, [{ type: 'us_ein' }]);
    const ssn = '666554444';
    const secretName = 'Zaphodine';
    const token = await server.ok(`${ACCOUNTS}/${id}/person_tokens`, {
      body: { given_name: secretName, id_numbers: [{ type: 'us_ssn', value: ssn }] },
    });
    const error = await server.send(ACCOUNTS, {
      body: {
        identity: {
          country: 'us',
          business_details: { id_numbers: [{ type: 'us_ein', value: 'x-1-2-y' }] },
        },
      },
    });
    assert.doesNotMatch(error.text, /x-1-2-y/);
    const seen = [
      JSON.stringify(token),
      (await server.send('/v2/core/events?limit=100')).text,
      (await server.send(`${ACCOUNTS}?limit=100`)).text,
      server.process.logText,
    ].join('\n');
    const files: Buffer[] = [];
    for (const name of await readdir(server.process.dataDir)) {
      if (name.startsWith('plinth.db'))
        files.push(await readFile(join(server.process.dataDir, name)));
    }
    const stored = Buffer.concat(files).toString('latin1');
    assert.ok(stored.includes(id), 'the files are those of the accounts');
    for (const secret of [number, ssn, secretName, ...Object.values(KEYS)]) {
      assert.ok(!seen.includes(secret), secret);
      assert.ok(!stored.includes(secret), secret);
    }
  });

  it('keeps its key file to itself, and rotates the key while it works', async () => {
    const path = join(server.process.dataDir, 'accounts', 'keys.json');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const { id } = await server.create({ identity: { country: 'us' } });
    const numbers = [{ type: 'us_ssn', value: '123456789' }];
    const body = { given_name: 'Ada', id_numbers: numbers };
    const person = await server.ok(`${ACCOUNTS}/${id}/persons`, { body });
    const token = await server.ok(`${ACCOUNTS}/${id}/person_tokens`, { body: { surname: 'Kept' } });
    const before = await readFile(path, 'utf8');
    const rotated = await server.operate('/rotate_key', {});
    assert.equal(rotated.key, 'k2');
    assert.ok(rotated.rewritten >= 2);
    const keys = JSON.parse(await readFile(path, 'utf8'));
    assert.deepEqual(Object.keys(keys.keys), ['k2']);
    assert.notEqual(keys.keys.k2, JSON.parse(before).keys.k1);
    const { dataDir } = server.process;
    await server.process.stop();
    server = await AccountsServer.start({ dataDir });
    // Both need what was sealed: the numbers are compared, the token is opened.
    const same = await server.ok(`${ACCOUNTS}/${id}/persons/${person.id}`, { body });
    assert.equal(same.updated, person.updated);
    const used = await server.ok(`${ACCOUNTS}/${id}/persons`, { body: { person_token: token.id } });
    assert.equal(used.surname, 'Kept');
  });

  it('does not start with a damaged key file, or without the one that its data need', async () => {
    const path = join(server.process.dataDir, 'accounts', 'keys.json');
    const whole = await readFile(path, 'utf8');
    const { dataDir } = server.process;
    await server.process.stop();
    await writeFile(path, whole.replace('"current": "k2"', '"current": "k3"'));
    await assert.rejects(AccountsServer.start({ dataDir }), /key file .* is damaged/);
    await rm(path);
    await assert.rejects(
      AccountsServer.start({ dataDir }),
      /not the key file .*put it back.*start the node that has the file first/,
    );
    await writeFile(path, whole);
    server = await AccountsServer.start({ dataDir });
  });
});

describe('the vendor word', () => {
  it('is in every place the configured one, and both spellings are taken', async () => {
    const named = await AccountsServer.start({ flags: ['--accounts-vendor-word', 'stripe'] });
    try {
      const { hostname, port } = new URL(named.process.url);
      const stripe = new Stripe(KEYS.sk_test, { host: hostname, port, protocol: 'http' });
      const account = await stripe.v2.core.accounts.create({
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
        { ...account.defaults?.responsibilities },
        {
          fees_collector: 'stripe',
          losses_collector: 'stripe',
          requirements_collector: 'stripe',
        },
      );
      const { merchant, recipient } = account.configuration ?? {};
      assert.equal(merchant?.capabilities?.stripe_balance?.payouts?.status, 'active');
      assert.equal(recipient?.capabilities?.stripe_balance?.stripe_transfers?.status, 'active');
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
    } finally {
      await named.close();
    }
  });
});

describe('test clocks', () => {
  it('are made by the official client, advance, take three accounts, and none in live mode', async () => {
    const { hostname, port } = new URL(server.process.url);
    const stripe = new Stripe(KEYS.sk_test, { host: hostname, port, protocol: 'http' });
    const frozen_time = 1_800_000_000;
    const clock = await stripe.testHelpers.testClocks.create({ frozen_time, name: 'Monthly' });
    assert.match(clock.id, /^clock_/);
    assert.equal(clock.object, 'test_helpers.test_clock');
    assert.equal(clock.status, 'ready');
    assert.equal(clock.deletes_after, clock.created + 30 * 86_400);
    const configuration = { customer: { test_clock: clock.id } };
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) ids.push((await server.create({ configuration })).id);
    const full = { code: 'test_clocks_customer_limit_reached' };
    await server.refused(ACCOUNTS, { body: { configuration } }, full);
    await server.ok(`${ACCOUNTS}/${ids[0]}/close`, { body: {} });
    await server.create({ configuration });
    const unknown = { configuration: { customer: { test_clock: 'clock_unknown' } } };
    await server.refused(ACCOUNTS, { body: unknown }, { code: 'test_clock_invalid' });
    const live = { key: 'sk_live' as const, body: { configuration } };
    await server.refused(ACCOUNTS, live, { code: 'test_clock_disallowed_on_live_mode' });
    const advanced = await stripe.testHelpers.testClocks.advance(clock.id, {
      frozen_time: frozen_time + 3600,
    });
    assert.equal(advanced.status, 'advancing');
    const during = { code: 'test_clocks_advance_in_progress' };
    await server.refused(ACCOUNTS, { body: { configuration } }, during);
    await sleep(2100);
    assert.equal((await stripe.testHelpers.testClocks.retrieve(clock.id)).status, 'ready');
    const listed = await stripe.testHelpers.testClocks.list();
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      [clock.id],
    );
    await stripe.testHelpers.testClocks.del(clock.id);
    assert.equal((await server.ok(`${ACCOUNTS}/${ids[1]}`)).closed, true);
    await assert.rejects(stripe.testHelpers.testClocks.retrieve(clock.id), { statusCode: 404 });
  });
});
