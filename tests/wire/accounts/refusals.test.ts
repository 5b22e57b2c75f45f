// Source: accounts, sections 2.5, 7, 9, 13 and 14. One refusal at each kind of path; all rows are in unit tests of the rules.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AccountsServer, type Json } from '../../harness/index.js';

const ACCOUNTS = '/v2/core/accounts';
const MERCHANT = {
  identity: { country: 'us', entity_type: 'company' },
  configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
};

let server: AccountsServer;
before(async () => {
  server = await AccountsServer.start();
});
after(async () => await server.close());

interface Refusal {
  readonly status?: number;
  readonly code: string;
  readonly param?: string;
}

/** @returns the names of the members of the error beside code, message and param. */
async function refused(path: string, body: Json, expected: Refusal): Promise<string[]> {
  const error = await server.refused(path, { body }, expected);
  assert.equal(error.param, expected.param);
  return Object.keys(error).filter((name) => !['code', 'message', 'param'].includes(name));
}

describe('a request is refused by a rule', () => {
  it('to create an account, with a message for its user', async () => {
    const body = { ...MERCHANT, contact_phone: '+1 12' };
    const expected = { code: 'phone_invalid', param: 'contact_phone' };
    assert.deepEqual(await refused(ACCOUNTS, body, expected), ['user_message']);
    assert.deepEqual((await server.ok(ACCOUNTS)).data, [], 'nothing was created');
  });

  it('for what the platform is, with a link to the page that explains the code', async () => {
    await server.withSettings({ state: 'invalid' }, async () => {
      const code = 'cannot_create_connected_account';
      const error = await server.refused(ACCOUNTS, { body: MERCHANT }, { code });
      const page = await fetch(error.doc_url);
      assert.equal(page.status, 200);
      assert.match(String(page.headers.get('content-type')), /^text\/html/);
      assert.equal(new URL(error.doc_url).hash, `#${code}`);
      assert.match(await page.text(), new RegExp(`<h2 id="${code}">${code}</h2>`));
    });
  });

  it('to update and to close an account, which stays as it is', async () => {
    const path = `${ACCOUNTS}/${(await server.create(MERCHANT)).id}`;
    const shown = `${path}?include=identity&include=configuration.merchant&include=requirements`;
    const before = await server.ok(shown);
    const country = { code: 'immutable_identity_param', param: 'identity.country' };
    const moved = await refused(path, { identity: { country: 'ca' } }, country);
    assert.deepEqual(moved, ['user_message']);
    const closing = { applied_configurations: ['customer'] };
    const match = { code: 'configs_must_match_to_close', param: 'applied_configurations' };
    const members = ['applied_configurations', 'user_message'];
    assert.deepEqual((await refused(`${path}/close`, closing, match)).sort(), members);
    assert.deepEqual(await server.ok(shown), before);
  });

  it('to create and to update a person', async () => {
    const path = `${ACCOUNTS}/${(await server.create(MERCHANT)).id}/persons`;
    const wrong = { code: 'email_invalid', param: 'email' };
    assert.deepEqual(await refused(path, { email: 'jenny@' }, wrong), ['user_message']);
    const person = await server.ok(path, { body: { given_name: 'Jenny' } });
    const double = { relationship: { legal_guardian: true, representative: true } };
    const param = 'relationship.legal_guardian';
    const code = 'legal_guardian_representative_not_allowed';
    assert.deepEqual(await refused(`${path}/${person.id}`, double, { code, param }), []);
    assert.deepEqual((await server.ok(path)).data, [person]);
  });

  it('to use a token', async () => {
    const person_token = (await server.ok('/v2/core/account_tokens', { body: {} })).id;
    const path = `${ACCOUNTS}/${(await server.create({})).id}/persons`;
    const wrong = { code: 'incorrect_token_wrong_type', param: 'person_token' };
    assert.deepEqual(await refused(path, { person_token }, wrong), []);
    const account_token = 'accttok_1';
    const unknown = { status: 403, code: 'invalid_account_token', param: 'account_token' };
    assert.deepEqual(await refused(ACCOUNTS, { account_token }, unknown), []);
  });
});
