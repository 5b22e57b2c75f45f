// Source: accounts, section 17.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnyJson, TestAccounts, testAccounts } from '../../testing/test-accounts.js';

const server = testAccounts({ 'accounts-allow-private-targets': '127.0.0.0/8' });

const events = async (query: string): Promise<AnyJson[]> =>
  (await server.ok(`/v2/core/events?limit=100&${query}`)).data;
const typesOf = async (id: string): Promise<string[]> =>
  (await events(`object_id=${id}`)).map(({ type }) => type).reverse();

describe('events', () => {
  it('creates every event type for its change', async () => {
    const account = await server.create({
      display_name: 'A',
      defaults: { locales: ['en'] },
      identity: { country: 'us', entity_type: 'company' },
      configuration: {
        customer: { capabilities: { automatic_indirect_tax: { requested: true } } },
        merchant: { capabilities: { card_payments: { requested: true } } },
        recipient: { capabilities: { bank_accounts: { local: { requested: true } } } },
      },
    });
    const path = `/v2/core/accounts/${account.id}`;
    const status = (name: string) =>
      `v2.core.account[configuration.${name}].capability_status_updated`;
    assert.deepEqual(await typesOf(account.id), [
      'v2.core.account.created',
      'v2.core.account.updated',
      'v2.core.account[configuration.customer].updated',
      'v2.core.account[configuration.merchant].updated',
      'v2.core.account[configuration.recipient].updated',
      'v2.core.account[defaults].updated',
      'v2.core.account[identity].updated',
      'v2.core.account[requirements].updated',
      status('customer'),
      status('merchant'),
      status('merchant'),
      status('recipient'),
    ]);

    const person = await server.ok(`${path}/persons`, { body: { given_name: 'Ada' } });
    await server.ok(`${path}/persons/${person.id}`, { body: { surname: 'Lovelace' } });
    await server.ok(`${path}/persons/${person.id}`, { method: 'DELETE' });
    assert.deepEqual(await typesOf(person.id), [
      'v2.core.account_person.created',
      'v2.core.account_person.updated',
      'v2.core.account_person.deleted',
    ]);

    await server.operate(`platforms/plat_default/accounts/${account.id}/requirements`, {
      description: 'identity.business_details.phone',
      awaiting_action_from: 'user',
      restricts: [
        { configuration: 'merchant', capability: 'card_payments', status: 'eventually_due' },
      ],
      future: true,
      transition: '2099-01-01T00:00:00.000Z',
    });
    const future = await events('types[0]=v2.core.account[future_requirements].updated');
    assert.equal(future.length, 1);
    assert.equal(future[0].reason, null);

    await server.ok(`${path}/close`, { body: {} });
    assert.ok((await typesOf(account.id)).includes('v2.core.account.closed'));
  });

  it('contain reason, related object, data and changes', async () => {
    const account = await server.create({ display_name: 'Before' });
    const key = 'the-key-of-this-update';
    const response = await server.call(`/v2/core/accounts/${account.id}`, {
      body: { display_name: 'After', metadata: { a: 'b' } },
      idempotencyKey: key,
    });
    const [event] = await events(`object_id=${account.id}`);
    assert.match(event.id, /^evt_test_[0-9A-Za-z]{24}$/);
    assert.deepEqual(event, {
      id: event.id,
      object: 'v2.core.event',
      type: 'v2.core.account.updated',
      created: event.created,
      livemode: false,
      context: null,
      reason: {
        type: 'request',
        request: { id: response.headers['request-id'], idempotency_key: key },
      },
      related_object: {
        id: account.id,
        type: 'v2.core.account',
        url: `/v2/core/accounts/${account.id}`,
      },
      changes: { before: { display_name: 'Before' }, after: { display_name: 'After' } },
    });
    assert.deepEqual(await server.ok(`/v2/core/events/${event.id}`), event);
    await server.refused(
      `/v2/core/events/${event.id}`,
      { key: 'sk_live' },
      { status: 404, code: 'not_found' },
    );
    await server.refused('/v2/core/events/evt_test_x', {}, { status: 404, code: 'not_found' });
  });

  it('are not created for an update without changes', async () => {
    const account = await server.create({ display_name: 'Same', metadata: { a: 'b' } });
    await server.ok(`/v2/core/accounts/${account.id}`, {
      body: { display_name: 'Same', metadata: { a: 'b', c: '' } },
    });
    assert.deepEqual(await typesOf(account.id), ['v2.core.account.created']);
  });

  it('are listed in pages and filtered by type, object and time', async () => {
    const account = await server.create({ display_name: '0' });
    for (const display_name of ['1', '2', '3']) {
      await server.ok(`/v2/core/accounts/${account.id}`, { body: { display_name } });
    }
    const all = await events(`object_id=${account.id}`);
    assert.equal(all.length, 4);
    const paged: AnyJson[] = [];
    let url: string | null = `/v2/core/events?limit=1&object_id=${account.id}`;
    let last: AnyJson;
    while (url !== null) {
      last = await server.ok(url);
      paged.push(...last.data);
      url = last.next_page_url;
      if (url !== null)
        assert.match(url, /^\/v2\/core\/events\?object_id=acct_[^&]+&limit=1&page=page_/);
    }
    assert.deepEqual(paged, all);
    const back = await server.ok(last.previous_page_url);
    assert.deepEqual(back.data, [all[2]]);
    const created = encodeURIComponent(all[1].created);
    const some = await events(`object_id=${account.id}&created[gte]=${created}`);
    assert.deepEqual(some, all.slice(0, 2));
    const earlier = await events(`object_id=${account.id}&created[lt]=${created}`);
    assert.deepEqual(earlier, all.slice(2));
    await server.refused('/v2/core/events?created[gt]=yesterday', {}, { code: 'invalid_fields' });
    await server.refused(
      '/v2/core/events?limit=101',
      {},
      { code: 'invalid_fields', param: 'limit' },
    );
    await server.refused('/v2/core/events?page=page_x', {}, { code: 'invalid_page' });
  });
});

describe('an event destination', () => {
  it('needs a name, known event types and a safe URL', async () => {
    const body = {
      name: 'x',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['*'],
      webhook_endpoint: { url: 'https://example.com' },
    };
    const check = async (change: object, param: string, key: 'sk_test' | 'sk_live' = 'sk_test') => {
      const call = { body: { ...body, ...change }, key };
      await server.refused('/v2/core/event_destinations', call, { code: 'invalid_fields', param });
    };
    await check({ type: 'amazon_eventbridge' }, 'type');
    await check({ event_payload: 'snapshot' }, 'event_payload');
    await check({ enabled_events: ['v2.core.nothing'] }, 'enabled_events.0');
    await check({ webhook_endpoint: { url: 'ftp://x' } }, 'webhook_endpoint.url');
    for (const login of ['user:word', 'user', ':word']) {
      const url = `https://${login}@example.com/`;
      await check({ webhook_endpoint: { url } }, 'webhook_endpoint.url');
    }
    await check(
      { webhook_endpoint: { url: 'http://example.com' } },
      'webhook_endpoint.url',
      'sk_live',
    );
    await check({ name: undefined }, 'name');
  });

  it('is rejected for a private address that deliveries may not reach', async () => {
    const path = '/v2/core/event_destinations';
    const body = (url: string) => ({
      name: 'Inside',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['v2.core.account.closed'],
      webhook_endpoint: { url },
      include: ['webhook_endpoint.url'],
    });
    const message = 'webhook_endpoint.url refers to an address that is not allowed.';
    const refusals = [{ field: 'webhook_endpoint.url', code: 'bad_format', message }];
    // Only 127.0.0.0/8 is allowed on this server.
    const made = await server.ok(path, { body: body('http://127.0.0.9:1/in') });
    const before = await server.ok(path);
    for (const url of [
      'http://10.0.0.1/',
      'http://0xa000001/',
      'http://169.254.169.254/latest/meta-data',
      'http://[::ffff:10.0.0.1]/',
      'http://[fd00::1]:8080/',
    ]) {
      for (const at of [path, `${path}/${made.id}`]) {
        const change = at === path ? body(url) : { webhook_endpoint: { url } };
        const error = await server.refused(at, { body: change }, { code: 'invalid_fields' });
        assert.deepEqual(error.invalid_fields, refusals, url);
      }
    }
    assert.deepEqual(await server.ok(path), before);
    const deleted = await server.ok(`${path}/${made.id}`, { method: 'DELETE' });
    assert.equal(deleted.id, made.id);
    await using closed = new TestAccounts();
    for (const url of ['http://127.0.0.9:1/in', 'http://localhost:1/', 'http://[::1]/']) {
      const error = await closed.refused(path, { body: body(url) }, { code: 'invalid_fields' });
      assert.deepEqual(error.invalid_fields, refusals, url);
    }
  });

  it('is rejected above the limit of sixteen, with the members of `invalid_fields`', async () => {
    const body = {
      name: 'x',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['v2.core.account.closed'],
      webhook_endpoint: { url: 'https://example.com' },
    };
    const path = '/v2/core/event_destinations';
    for (let count = 0; count < 16; count += 1) await server.ok(path, { body, key: 'sk_live' });
    const call = { body, key: 'sk_live' };
    const error = await server.refused(path, call, { status: 400, code: 'invalid_fields' });
    const message = 'The limit of 16 event destinations has been reached.';
    assert.deepEqual(error.invalid_fields, [{ field: '', code: 'out_of_range', message }]);
  });
});
