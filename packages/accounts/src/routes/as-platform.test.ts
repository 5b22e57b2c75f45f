// Source: accounts, section 4.1; decision 0174.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { merchant } from '../testing/account-bodies.js';
import { errorOf } from '../testing/refusal.js';
import { type AnyJson, KEYS, testAccounts } from '../testing/test-accounts.js';
import { OPERATOR_HEADERS } from '../testing/test-server.js';

const server = testAccounts();
const AS = '/ops/v1/as/platform/plat_default/test';

const send = (path: string, body?: object, headers = {}, method = body ? 'POST' : 'GET') =>
  server.send(`${AS}${path}`, {
    method,
    headers: { ...OPERATOR_HEADERS, ...headers },
    body: body && JSON.stringify(body),
  });
async function ok(...args: Parameters<typeof send>): Promise<AnyJson> {
  const { status, text, headers } = await send(...args);
  assert.equal(status, 200, text);
  return { ...JSON.parse(text), etag: headers['etag'] };
}
const identity = { country: 'us', entity_type: 'company' };

describe('An operator who acts as a platform', () => {
  it('needs the admin token, not a key of the platform', async () => {
    for (const authorization of ['', `Bearer ${KEYS.sk_test}`]) {
      const response = await send('/v2/core/accounts', undefined, { authorization });
      errorOf(response, { status: 401, code: 'operator_token_required' });
    }
    const response = await server.send('/v2/core/accounts', { headers: OPERATOR_HEADERS });
    errorOf(response, { status: 401, code: 'api_key_invalid' });
  });

  it('uses the API of the platform in one mode', async () => {
    const { id } = await ok('/v2/core/accounts', merchant());
    assert.equal((await server.ok(`/v2/core/accounts/${id}`)).display_name, 'Furever');
    const live = `/ops/v1/as/platform/plat_default/live/v2/core/accounts/${id}`;
    const hidden = await server.send(live, { headers: OPERATOR_HEADERS });
    errorOf(hidden, { status: 404, code: 'not_found' });
    for (const [path, code] of [
      ['plat_unknown/test', 'not_found'],
      ['plat_default/both', 'unrecognized_url'],
    ] as const) {
      const url = `/ops/v1/as/platform/${path}/v2/core/accounts`;
      errorOf(await server.send(url, { headers: OPERATOR_HEADERS }), { status: 404, code });
    }
    const wrong = await send('/v2/core/accounts', { identity: { country: 'xx' } });
    const error = errorOf(wrong, { status: 400, code: 'invalid_fields' });
    assert.equal(error.param, 'identity.country');
  });

  it('reads pages and events, and uses test clocks', async () => {
    const { id } = await ok('/v2/core/accounts', merchant());
    for (const surname of ['First', 'Second'])
      await ok(`/v2/core/accounts/${id}/persons`, { given_name: 'Ann', surname });
    const first = await ok(`/v2/core/accounts/${id}/persons?limit=1`);
    assert.equal(first.data[0].surname, 'Second');
    assert.ok(first.next_page_url.startsWith(`${AS}/v2/core/accounts/${id}/persons?`));
    const { data } = await ok(first.next_page_url.slice(AS.length));
    assert.equal(data[0].surname, 'First');
    const events = await ok(`/v2/core/events?object_id=${id}`);
    assert.equal(events.data.at(-1).type, 'v2.core.account.created');
    assert.equal(events.data.at(-1).reason.type, 'request');
    const clock = await ok('/v1/test_helpers/test_clocks', { frozen_time: 1_800_000_000 });
    const configuration = { customer: { test_clock: clock.id } };
    const timed = await ok('/v2/core/accounts', { identity, configuration });
    const onClock = `platforms/plat_default/test_clocks/${clock.id}/accounts`;
    const listed = async (): Promise<AnyJson[]> => (await server.operate(onClock)).data;
    const closing = await ok('/v2/core/accounts', { identity, configuration });
    assert.equal((await listed()).length, 2);
    await ok(`/v2/core/accounts/${closing.id}/close`, {});
    assert.deepEqual(
      (await listed()).map(({ id, closed }) => [id, closed]),
      [[timed.id, false]],
    );
    await ok(`/v1/test_helpers/test_clocks/${clock.id}/advance`, { frozen_time: 1_800_003_600 });
    await ok(`/v1/test_helpers/test_clocks/${clock.id}`, undefined, {}, 'DELETE');
    assert.equal((await ok(`/v2/core/accounts/${timed.id}`)).closed, true);
    assert.equal((await server.sendOps('GET', onClock)).status, 404);
  });

  it('does not overwrite a later change of an account', async () => {
    const { id } = await ok('/v2/core/accounts', merchant());
    const path = `/v2/core/accounts/${id}`;
    const { etag } = await ok(path);
    assert.equal((await ok(path)).etag, etag, 'the tag is stable');
    assert.equal((await server.call(path)).headers['etag'], undefined, 'only for operators');
    const change = (display_name: string, tag: string) =>
      send(path, { display_name }, { 'if-match': tag });
    assert.equal((await change('Mine', etag)).status, 200);
    errorOf(await change('Late', etag), { status: 412, code: 'precondition_failed' });
    assert.equal((await ok(path)).display_name, 'Mine');
    assert.equal((await change('Again', (await ok(path)).etag)).status, 200);
    const business_details = { phone: '+14155550100' };
    const before = (await ok(path)).etag;
    await server.ok(path, { body: { identity: { business_details } } });
    errorOf(await change('Late', before), { status: 412, code: 'precondition_failed' });
  });

  it('does not overwrite an id number, which no response contains', async () => {
    const withNumber = (value: string) => ({
      identity: { business_details: { id_numbers: [{ type: 'us_ein', value }] } },
    });
    const { id } = await ok('/v2/core/accounts', merchant(withNumber('123456789')));
    const path = `/v2/core/accounts/${id}`;
    const tag = { 'if-match': (await ok(path)).etag };
    assert.equal((await send(path, withNumber('111111111'), tag)).status, 200);
    const late = await send(path, withNumber('222222222'), tag);
    errorOf(late, { status: 412, code: 'precondition_failed' });
  });

  it('keeps the tag of an account when time or a person changes its statuses', async () => {
    const { id } = await ok('/v2/core/accounts', merchant());
    const path = `/v2/core/accounts/${id}`;
    const { etag } = await ok(path);
    const statusOf = async () =>
      (await ok(`${path}?include=configuration.merchant`)).configuration.merchant.capabilities
        .card_payments.status;
    assert.equal(await statusOf(), 'active');
    const now = new Date(server.clock.nowMs() + 200 * 86_400_000).toISOString();
    await server.operate('platforms/plat_default/tick', { now });
    assert.equal(await statusOf(), 'restricted');
    await ok(`${path}/persons`, { given_name: 'Ann', relationship: { representative: true } });
    assert.equal((await ok(path)).etag, etag);
    await ok(path, { display_name: 'Mine' }, { 'if-match': etag });
  });

  it('does not close an account that was changed', async () => {
    const { id } = await ok('/v2/core/accounts', merchant());
    const path = `/v2/core/accounts/${id}`;
    const { etag } = await ok(path);
    await ok(path, { display_name: 'Mine' });
    const close = (tag: string) => send(`${path}/close`, {}, { 'if-match': tag });
    errorOf(await close(etag), { status: 412, code: 'precondition_failed' });
    const { etag: open, closed } = await ok(path);
    assert.equal(closed, false);
    assert.equal((await close(open)).status, 200);
    const after = await ok(path);
    assert.equal(after.closed, true);
    assert.notEqual(after.etag, open);
  });

  it('does not overwrite or delete a later version of a person', async () => {
    const { id } = await ok('/v2/core/accounts', merchant());
    const person = await ok(`/v2/core/accounts/${id}/persons`, { given_name: 'Ann' });
    const path = `/v2/core/accounts/${id}/persons/${person.id}`;
    const { etag } = await ok(path);
    const tag = { 'if-match': etag };
    assert.equal((await send(path, { surname: 'Mine' }, tag)).status, 200);
    const expected = { status: 412, code: 'precondition_failed' };
    errorOf(await send(path, { surname: 'Late' }, tag), expected);
    errorOf(await send(path, undefined, tag, 'DELETE'), expected);
    assert.equal((await ok(path)).surname, 'Mine');
  });

  it('finds the schemas of request bodies', async () => {
    const { schemas } = await server.operate('schemas');
    const { identity: part } = schemas.AccountUpdate.properties;
    assert.deepEqual(Object.keys(part.properties).sort().slice(0, 3), [
      'attestations',
      'business_details',
      'country',
    ]);
    assert.ok(schemas.Country.enum.includes('GB'));
    assert.ok(schemas.PersonCreate.properties.given_name);
  });
});
