// Source: accounts, sections 7, 8, 10 and 11.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type AnyJson, testAccounts } from '../../testing/test-accounts.js';

const server = testAccounts();

const ACCOUNTS = '/v2/core/accounts';
const ALL = [
  'configuration.customer',
  'configuration.merchant',
  'configuration.recipient',
  'defaults',
  'future_requirements',
  'identity',
  'requirements',
];
const read = async (id: string, include: readonly string[]): Promise<AnyJson> =>
  await server.ok(
    `${ACCOUNTS}/${id}?${include.map((name, index) => `include[${index}]=${name}`).join('&')}`,
  );
const update = async (id: string, body: object): Promise<AnyJson> =>
  await server.ok(`${ACCOUNTS}/${id}`, { body });

describe('include', () => {
  let id: string;
  before(async () => {
    const account = await server.create({
      identity: { country: 'de', entity_type: 'company' },
      configuration: { customer: {}, merchant: {} },
    });
    id = account.id;
  });

  it('returns null for every section that is not included', async () => {
    const account = await server.ok(`${ACCOUNTS}/${id}`);
    for (const name of [
      'configuration',
      'defaults',
      'identity',
      'requirements',
      'future_requirements',
    ]) {
      assert.equal(account[name], null, name);
    }
  });

  it('returns one configuration, all sections or only the identity', async () => {
    const one = await read(id, ['configuration.merchant']);
    assert.deepEqual(Object.keys(one.configuration), ['customer', 'merchant', 'recipient']);
    assert.equal(one.configuration.customer, null);
    assert.equal(typeof one.configuration.merchant.applied, 'string');
    const all = await read(id, ALL);
    assert.equal(all.configuration.recipient, null);
    assert.equal(all.defaults.currency, 'eur');
    assert.deepEqual(all.identity, { country: 'DE', entity_type: 'company' });
    assert.deepEqual(all.future_requirements.entries, []);
    assert.ok(Array.isArray(all.requirements.entries));
    const identity = await read(id, ['identity', 'identity']);
    assert.equal(identity.configuration, null);
    assert.equal(identity.identity.country, 'DE');
    const repeated = await server.ok(`${ACCOUNTS}/${id}?include%5B%5D=identity&include=defaults`);
    assert.ok(repeated.identity !== null && repeated.defaults !== null);
  });

  it('returns empty sections as empty objects and rejects unknown ones', async () => {
    const bare = (await server.create({ include: ALL })) as AnyJson;
    assert.deepEqual(bare.identity, {});
    assert.deepEqual(bare.defaults, {
      locales: [],
      responsibilities: { requirements_collector: 'vendor' },
    });
    assert.deepEqual(bare.requirements.entries, []);
    assert.ok(!('summary' in bare.requirements));
    const expected = { code: 'invalid_fields', param: 'include' };
    await server.refused(`${ACCOUNTS}/${id}?include=everything`, {}, expected);
    await server.refused(
      ACCOUNTS,
      { body: { include: ['x'] } },
      { ...expected, param: 'include.0' },
    );
  });

  it('rejects include for lists', async () => {
    await server.refused(
      `${ACCOUNTS}?include=identity`,
      {},
      { code: 'invalid_fields', param: 'include' },
    );
    const { data } = await server.ok(ACCOUNTS);
    assert.ok(data.every((account: AnyJson) => account.identity === null));
  });
});

describe('update', () => {
  it('merges objects, replaces lists, and unsets by null and by an empty string', async () => {
    const { id } = await server.create({
      display_name: 'One',
      contact_email: 'one@example.com',
      identity: {
        country: 'us',
        business_details: {
          registered_name: 'One Inc',
          phone: '+12025550123',
          address: { country: 'us', city: 'Boston', line1: '1 Elm St', state: 'MA' },
        },
      },
      defaults: { locales: ['en', 'de'], profile: { business_url: 'https://one.example.com' } },
    });
    await update(id, {
      display_name: null,
      contact_email: '',
      identity: {
        business_details: {
          phone: null,
          address: { line1: '2 Elm St' },
          estimated_worker_count: 3,
        },
      },
      defaults: { locales: ['fr'] },
    });
    const account = await read(id, ['identity', 'defaults']);
    assert.equal(account.display_name, null);
    assert.equal(account.contact_email, null);
    assert.deepEqual(account.identity, {
      business_details: {
        registered_name: 'One Inc',
        address: { country: 'US', city: 'Boston', line1: '2 Elm St', state: 'MA' },
        estimated_worker_count: 3,
      },
      country: 'US',
    });
    assert.deepEqual(account.defaults.locales, ['fr']);
    assert.deepEqual(account.defaults.profile, { business_url: 'https://one.example.com' });
    await update(id, { defaults: { locales: null, profile: null } });
    const { defaults } = await read(id, ['defaults']);
    assert.deepEqual(defaults.locales, []);
    assert.ok(!('profile' in defaults));
  });

  it('sets and removes metadata by key', async () => {
    const { id, metadata } = await server.create({ metadata: { a: '1', n: 2, gone: null } });
    assert.deepEqual(metadata, { a: '1', n: '2' });
    const check = async (sent: unknown, expected: object) =>
      assert.deepEqual((await update(id, { metadata: sent })).metadata, expected);
    await check({ b: '3', n: '' }, { a: '1', b: '3' });
    await check({ a: null, ['__proto__']: 'x' }, JSON.parse('{"b":"3","__proto__":"x"}'));
    await check(null, {});
  });

  it('changes nothing and reports nothing when it repeats stored values', async () => {
    const person = { given_name: 'Ada', nationalities: ['gb'] };
    const { id } = await server.create({});
    const made = await server.ok(`${ACCOUNTS}/${id}/persons`, { body: person });
    const count = async () =>
      (await server.ok(`/v2/core/events?object_id=${id}&limit=100`)).data.length;
    const before = await count();
    const again = await server.ok(`${ACCOUNTS}/${id}/persons/${made.id}`, { body: person });
    assert.equal(again.updated, made.updated);
    await update(id, {});
    assert.equal(await count(), before);
  });

  it('is rejected completely', async () => {
    const { id } = await server.create({ display_name: 'Kept' });
    const body = { display_name: 'Lost', contact_email: 'nonsense' };
    await server.refused(`${ACCOUNTS}/${id}`, { body }, { code: 'email_invalid' });
    assert.equal((await server.ok(`${ACCOUNTS}/${id}`)).display_name, 'Kept');
  });

  it('keeps the settings of a deactivated configuration and applies it again', async () => {
    const { id } = await server.create({
      configuration: { customer: { shipping: { name: 'Ada', address: { country: 'us' } } } },
    });
    const off = await update(id, {
      configuration: { customer: { applied: false } },
      include: ['configuration.customer'],
    });
    assert.deepEqual(off.applied_configurations, []);
    assert.equal(off.configuration.customer.applied, null);
    assert.equal(off.configuration.customer.shipping.name, 'Ada');
    await server.refused(
      `${ACCOUNTS}/${id}`,
      { body: { configuration: { customer: { shipping: { name: 'Bob' } } } } },
      { code: 'configuration_cannot_be_updated_while_deactivated' },
    );
    const on = await update(id, { configuration: { customer: { applied: true } } });
    assert.deepEqual(on.applied_configurations, ['customer']);
  });

  it('section 8.5: keeps the responsibilities of a merchant', async () => {
    const { id } = await server.create({
      identity: { country: 'us' },
      dashboard: 'express',
      configuration: { merchant: {} },
      defaults: {
        locales: ['de'],
        responsibilities: { fees_collector: 'application', losses_collector: 'application' },
      },
    });
    const path = `${ACCOUNTS}/${id}`;
    // The platform's default responsibilities are not allowed with this dashboard.
    const code = 'account_controller_express_dash_without_application_losses_or_fees';
    await server.refused(path, { body: { defaults: null } }, { code });
    const unset = await update(id, {
      dashboard: 'full',
      defaults: { responsibilities: null },
      include: ['defaults'],
    });
    assert.deepEqual(unset.defaults, {
      currency: 'usd',
      locales: ['de'],
      responsibilities: {
        fees_collector: 'vendor',
        losses_collector: 'vendor',
        requirements_collector: 'vendor',
      },
    });
  });
});

describe('lists', () => {
  it('are sorted newest first, stay stable and link back', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      ids.unshift((await server.create({ metadata: { run: 'paging' } })).id);
    }
    const first = await server.ok(`${ACCOUNTS}?limit=2`);
    assert.deepEqual(
      first.data.map(({ id }: AnyJson) => id),
      ids.slice(0, 2),
    );
    assert.equal(first.previous_page_url, null);
    assert.match(first.next_page_url, /^\/v2\/core\/accounts\?limit=2&page=page_[\w-]+$/);
    await server.create({});
    const second = await server.ok(first.next_page_url);
    assert.deepEqual(
      second.data.map(({ id }: AnyJson) => id),
      ids.slice(2, 4),
    );
    const back = await server.ok(second.previous_page_url);
    assert.deepEqual(back.data, first.data);
    // The account created in the meantime is newer than the first page.
    assert.notEqual(back.previous_page_url, null);
  });

  it('repeat their filters and accept a page token only for the same filters', async () => {
    for (const configuration of [{ customer: {} }, { customer: {}, merchant: {} }, {}]) {
      await server.create({ configuration, identity: { country: 'us' } });
    }
    const filter = 'applied_configurations[0]=customer&applied_configurations[1]=merchant';
    const both = await server.ok(`${ACCOUNTS}?${filter}&limit=1&closed=false`);
    assert.deepEqual(both.data[0].applied_configurations, ['customer', 'merchant']);
    assert.ok(both.next_page_url.startsWith(`${ACCOUNTS}?${filter}&closed=false&limit=1&page=`));
    const page = new URL(both.next_page_url, 'http://x').searchParams.get('page');
    const invalid = { code: 'invalid_page', param: 'page' };
    await server.refused(`${ACCOUNTS}?page=${page}`, {}, invalid);
    await server.refused(`${ACCOUNTS}?page=nonsense`, {}, invalid);
    // The token is forged from a valid one. Ids never contain these characters, and not all
    // databases accept them.
    const token = JSON.parse(Buffer.from(String(page).slice(5), 'base64url').toString());
    for (const id of ['a\0b', 'a b', '']) {
      const forged = Buffer.from(JSON.stringify({ ...token, id })).toString('base64url');
      await server.refused(`${ACCOUNTS}?${filter}&closed=false&page=page_${forged}`, {}, invalid);
    }
    await server.refused(
      `${ACCOUNTS}?${filter}&closed=false&page=${page}`,
      { key: 'sk_live' },
      invalid,
    );
  });
});

describe('a list', () => {
  it('section 10: does not allow null among its entries', async () => {
    const { id } = await server.create();
    for (const name of [
      'additional_addresses',
      'additional_names',
      'id_numbers',
      'nationalities',
    ]) {
      const error = await server.refused(
        `${ACCOUNTS}/${id}/persons`,
        { body: { [name]: [null] } },
        { code: 'invalid_fields' },
      );
      assert.equal(error.param, `${name}.0`);
      assert.equal(error.message, `${name}.0 cannot be null.`);
    }
  });
});

describe('close', () => {
  it('requires the right configurations, and afterwards the account is read-only', async () => {
    const { id } = await server.create({ configuration: { customer: {} }, display_name: 'Last' });
    const path = `${ACCOUNTS}/${id}`;
    const token = await server.ok(`${path}/person_tokens`, { body: {} });
    const error = await server.refused(
      `${path}/close`,
      { body: { applied_configurations: ['merchant'] } },
      { code: 'configs_must_match_to_close' },
    );
    assert.deepEqual(error.applied_configurations, ['customer']);
    assert.equal(typeof error.user_message, 'string');
    const closed = await server.ok(`${path}/close`, {
      body: { applied_configurations: ['customer'] },
    });
    assert.equal(closed.closed, true);
    assert.equal(closed.identity, null);
    const readBack = await read(id, ALL);
    assert.deepEqual(readBack.applied_configurations, ['customer']);
    assert.deepEqual(readBack.requirements.entries, []);
    const refused = { code: 'account_closed' };
    await server.refused(`${path}/close`, { body: {} }, refused);
    await server.refused(path, { body: { display_name: 'x' } }, refused);
    await server.refused(`${path}/persons`, { body: {} }, refused);
    await server.refused(`${path}/persons`, { body: { person_token: token.id } }, refused);
    await server.refused(`${path}/person_tokens`, { body: {} }, refused);
    const open = await server.ok(`${ACCOUNTS}?limit=100`);
    assert.ok(!open.data.some((account: AnyJson) => account.id === id));
    const ended = await server.ok(`${ACCOUNTS}?closed=true`);
    assert.deepEqual(
      ended.data.map((account: AnyJson) => account.id),
      [id],
    );
  });
});

describe('persons', () => {
  it('are limited to 500 per account', async () => {
    const { id } = await server.create({});
    const path = `${ACCOUNTS}/${id}/persons`;
    for (let index = 0; index < 500; index += 10) {
      await Promise.all(
        Array.from({ length: 10 }, (_, each) =>
          server.ok(path, { body: { given_name: `Ada ${index + each}` } }),
        ),
      );
    }
    const refused = { code: 'account_person_limit_reached' };
    await server.refused(path, { body: { given_name: 'one too many' } }, refused);
    const { data } = await server.ok(`${path}?limit=1`);
    await server.ok(`${path}/${data[0].id}`, { method: 'DELETE' });
    await server.ok(path, { body: { given_name: 'in her place' } });
  });
});
