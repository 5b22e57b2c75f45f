// Source: accounts, sections 5, 6, 9.2 and 9.3.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TestResponse } from '@plinth/kernel/testing';
import { type AnyJson, TestAccounts, testAccounts } from '../../testing/test-accounts.js';

const server = testAccounts();

const ACCOUNTS = '/v2/core/accounts';
const codeOf = ({ status, text }: TestResponse): string =>
  status === 200 ? 'ok' : JSON.parse(text).error.code;

describe('idempotency', () => {
  it('expires a key by time, independently of maintenance', async () => {
    await using brief = new TestAccounts({ 'accounts-idempotency-ttl-sec': '1' });
    const idempotencyKey = randomUUID();
    const call = { body: { display_name: 'First' }, idempotencyKey };
    const refused = { body: { display_name: 5 }, idempotencyKey: randomUUID() };
    const first = await brief.ok(ACCOUNTS, call);
    assert.equal((await brief.call(ACCOUNTS, refused)).status, 400);
    await brief.clock.advanceMs(1000);
    const other = await brief.call(ACCOUNTS, { ...call, body: { display_name: 'Second' } });
    assert.equal(codeOf(other), 'ok', other.text);
    assert.notEqual(JSON.parse(other.text).id, first.id);
    assert.equal(other.headers['idempotent-replayed'], undefined);
    assert.equal(codeOf(await brief.call(ACCOUNTS, { ...refused, body: {} })), 'ok');
    await brief.clock.advanceMs(1000);
    const again = await brief.call(ACCOUNTS, call);
    assert.equal(codeOf(again), 'ok', again.text);
    assert.notEqual(JSON.parse(again.text).id, first.id);
  });

  it('returns the first response byte for byte, whatever has changed since', async () => {
    const call = {
      body: { display_name: 'First', include: ['identity'] },
      idempotencyKey: randomUUID(),
    };
    const first = await server.call(ACCOUNTS, call);
    const { id } = JSON.parse(first.text);
    await server.ok(`${ACCOUNTS}/${id}`, { body: { display_name: 'Changed' } });
    const reordered = { include: ['identity'], display_name: 'First' };
    const second = await server.call(ACCOUNTS, { ...call, body: reordered });
    assert.equal(second.status, 200);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['idempotent-replayed'], 'true');
    assert.equal(second.headers['original-request'], first.headers['request-id']);
    assert.notEqual(second.headers['request-id'], first.headers['request-id']);
    assert.equal(second.headers['idempotency-key'], call.idempotencyKey);
    assert.equal(first.headers['idempotent-replayed'], undefined);
  });

  it('rejects other parameters, another path or another method', async () => {
    const idempotencyKey = randomUUID();
    const { id } = await server.create({ display_name: 'x' }, { idempotencyKey });
    const check = async (path: string, body: unknown, method = 'POST') => {
      const response = await server.call(path, { method, body, idempotencyKey });
      assert.equal(codeOf(response), 'idempotency_error');
      assert.equal(response.status, 409);
      assert.equal(JSON.parse(response.text).error.type, 'idempotency_error');
      assert.equal(response.headers['stripe-should-retry'], 'false');
    };
    await check(ACCOUNTS, { display_name: 'y' });
    await check(`${ACCOUNTS}/${id}`, { display_name: 'x' });
    await server.ok(ACCOUNTS, { key: 'sk_live', body: { display_name: 'y' }, idempotencyKey });
  });

  it('executes a rejected request again, only with the same parameters', async () => {
    const idempotencyKey = randomUUID();
    const body = { contact_email: 'a@example.com' };
    await server.withSettings({ state: 'rejected' }, async () => {
      const code = 'cannot_create_new_account_rejected';
      await server.refused(ACCOUNTS, { body, idempotencyKey }, { code });
      await server.refused(ACCOUNTS, { body, idempotencyKey }, { code });
      await server.refused(
        ACCOUNTS,
        { body: {}, idempotencyKey },
        { status: 409, code: 'idempotency_error' },
      );
    });
    const first = await server.call(ACCOUNTS, { body, idempotencyKey });
    assert.equal(first.status, 200, first.text);
    assert.equal(first.headers['idempotent-replayed'], undefined);
    assert.equal((await server.call(ACCOUNTS, { body, idempotencyKey })).text, first.text);
  });

  it('treats a request with an invalid shape the same, and does not take over another record', async () => {
    const idempotencyKey = randomUUID();
    const wrong = { body: { display_name: 7 }, idempotencyKey };
    const right = { body: { display_name: 'Seven' }, idempotencyKey };
    await server.refused(ACCOUNTS, wrong, { code: 'invalid_fields' });
    await server.refused(ACCOUNTS, wrong, { code: 'invalid_fields' });
    await server.refused(ACCOUNTS, right, { status: 409, code: 'idempotency_error' });
    // A body that is not JSON has no parameters to store.
    const unread = randomUUID();
    const broken = { body: '{', idempotencyKey: unread };
    await server.refused(ACCOUNTS, broken, { code: 'invalid_json' });
    const first = await server.call(ACCOUNTS, { ...right, idempotencyKey: unread });
    assert.equal(first.status, 200, first.text);
    await server.refused(
      ACCOUNTS,
      { ...wrong, idempotencyKey: unread },
      { code: 'invalid_fields' },
    );
    const repeated = await server.call(ACCOUNTS, { ...right, idempotencyKey: unread });
    assert.equal(repeated.text, first.text);
    assert.equal(repeated.headers['idempotent-replayed'], 'true');
    const clock = { body: { name: 'x' }, idempotencyKey: randomUUID() };
    const clocks = '/v1/test_helpers/test_clocks';
    await server.refused(clocks, clock, { code: 'invalid_fields' });
    await server.refused(
      clocks,
      { ...clock, body: { frozen_time: 1_900_000_000 } },
      { status: 409, code: 'idempotency_error' },
    );
  });

  it('covers DELETE, and generates a key if the client sends none', async () => {
    const { id } = await server.create({});
    const person = await server.ok(`${ACCOUNTS}/${id}/persons`, { body: {} });
    const path = `${ACCOUNTS}/${id}/persons/${person.id}`;
    const call = { method: 'DELETE', idempotencyKey: randomUUID() };
    const first = await server.call(path, call);
    const second = await server.call(path, call);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['idempotent-replayed'], 'true');
    const unkeyed = await server.call(ACCOUNTS, { body: {}, idempotencyKey: null });
    assert.match(String(unkeyed.headers['idempotency-key']), /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    const read = await server.call(ACCOUNTS, { headers: { 'idempotency-key': 'ignored' } });
    assert.equal(read.headers['idempotency-key'], undefined);
  });

  it('accepts 1 to 255 printable characters', async () => {
    await server.create({}, { idempotencyKey: 'k'.repeat(255) });
    const code = 'invalid_idempotency_key';
    await server.refused(ACCOUNTS, { body: {}, idempotencyKey: 'k'.repeat(256) }, { code });
    await server.refused(ACCOUNTS, { body: {}, idempotencyKey: 'k\tk' }, { code });
  });

  it('200 parallel repeats of one key create one account', async () => {
    const idempotencyKey = randomUUID();
    const body = { display_name: 'Only one', metadata: { run: idempotencyKey } };
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => server.call(ACCOUNTS, { body, idempotencyKey })),
    );
    const codes = new Set(responses.map(codeOf));
    for (const code of codes) assert.ok(['ok', 'idempotency_key_in_use'].includes(code), code);
    const inUse = responses.find((response) => codeOf(response) === 'idempotency_key_in_use');
    if (inUse !== undefined) {
      assert.equal(inUse.status, 409);
      assert.equal(inUse.headers['api-should-retry'], 'true');
    }
    const bodies = new Set(
      responses.filter(({ status }) => status === 200).map(({ text }) => text),
    );
    assert.equal(bodies.size, 1);
    const { data } = await server.ok(`${ACCOUNTS}?limit=100`);
    assert.equal(data.filter(({ metadata }: AnyJson) => metadata.run === idempotencyKey).length, 1);
  });
});

describe('the limit of concurrent updates', () => {
  it('rejects exactly one request above the limit, without storing a record', async () => {
    let refusedRounds = 0;
    const { id } = await server.create({});
    await server.withSettings({ update_concurrency_limit: 3 }, async () => {
      // Four requests sent together may not run concurrently on a busy machine.
      for (let round = 0; round < 50 && refusedRounds < 5; round++) {
        const keys = Array.from({ length: 4 }, () => randomUUID());
        const send = (key: string, index: number) =>
          server.call(`${ACCOUNTS}/${id}`, {
            body: { metadata: { [`k${index}`]: `${round}` } },
            idempotencyKey: key,
          });
        const responses = await Promise.all(keys.map(send));
        const refused = responses.filter(({ status }) => status === 429);
        if (refused.length === 0) continue;
        refusedRounds++;
        assert.equal(refused.length, 1, responses.map(codeOf).join());
        const error = JSON.parse(refused[0]?.text ?? '').error;
        assert.equal(error.code, 'account_rate_limit_exceeded');
        assert.equal(error.type, 'rate_limit');
        assert.equal(refused[0]?.headers['retry-after'], '1');
        assert.equal(refused[0]?.headers['stripe-should-retry'], 'true');
        const index = responses.findIndex(({ status }) => status === 429);
        // The same key is accepted with other parameters, because no record was stored.
        const key = keys[index] ?? '';
        await server.ok(`${ACCOUNTS}/${id}`, { body: { metadata: {} }, idempotencyKey: key });
      }
    });
    assert.equal(refusedRounds, 5);
  });
});

describe('the limit of concurrent creates', () => {
  const parallel = async (count: number): Promise<string[]> => {
    const bodies = Array.from({ length: count }, (_, index) => ({ display_name: `${index}` }));
    const responses = await Promise.all(bodies.map((body) => server.call(ACCOUNTS, { body })));
    return responses.map(codeOf);
  };

  it('is far above the update limit of one account', async () => {
    assert.deepEqual(new Set(await parallel(128)), new Set(['ok']));
  });

  it('follows the setting, or else the update limit', async () => {
    await server.withSettings({ create_concurrency_limit: 3 }, async () => {
      let codes: string[] = [];
      for (let round = 0; round < 50; round++) {
        codes = (await parallel(4)).sort();
        if (codes[0] !== 'ok') break; // all four ran concurrently
      }
      assert.deepEqual(codes, ['account_rate_limit_exceeded', 'ok', 'ok', 'ok']);
    });
    await server.withSettings({ update_concurrency_limit: 0 }, async () => {
      await server.refused(
        ACCOUNTS,
        { body: {} },
        { code: 'account_rate_limit_exceeded', status: 429 },
      );
    });
  });
});

describe('tokens', () => {
  const newToken = async (id: string, body: object = { given_name: 'Ada' }): Promise<string> =>
    (await server.ok(`${ACCOUNTS}/${id}/person_tokens`, { body })).id;

  it('can be used once and retried with the same key', async () => {
    const { id } = await server.create({});
    const person_token = await newToken(id);
    const path = `${ACCOUNTS}/${id}/persons`;
    const idempotencyKey = randomUUID();
    const first = await server.call(path, { body: { person_token }, idempotencyKey });
    assert.equal(first.status, 200, first.text);
    const again = await server.call(path, { body: { person_token }, idempotencyKey });
    assert.equal(again.text, first.text);
    await server.refused(path, { body: { person_token } }, { code: 'token_already_used' });
  });

  it('contain the attestation and its origin', async () => {
    const token = await server.ok('/v2/core/account_tokens', {
      key: 'pk_test',
      headers: { 'user-agent': 'Browser/1.0' },
      body: {
        identity: {
          entity_type: 'company',
          attestations: { representative_declaration: { attested: true } },
          business_details: { registered_name: 'Token Ltd' },
        },
      },
    });
    const account = await server.create({ account_token: token.id, include: ['identity'] });
    const { representative_declaration } = account.identity.attestations;
    assert.deepEqual(representative_declaration, {
      date: token.created,
      ip: '127.0.0.1',
      user_agent: 'Browser/1.0',
    });
    assert.equal(account.identity.business_details.registered_name, 'Token Ltd');
  });

  it('allow exactly one of 200 parallel uses', async () => {
    const { id } = await server.create({});
    const person_token = await newToken(id);
    await server.withSettings({ update_concurrency_limit: 1000 }, async () => {
      const responses = await Promise.all(
        Array.from({ length: 200 }, () =>
          server.call(`${ACCOUNTS}/${id}/persons`, { body: { person_token } }),
        ),
      );
      const codes = responses.map(codeOf);
      assert.equal(codes.filter((code) => code === 'ok').length, 1);
      assert.equal(codes.filter((code) => code === 'token_already_used').length, 199);
    });
    assert.equal((await server.ok(`${ACCOUNTS}/${id}/persons`)).data.length, 1);
  });

  it('expire', async () => {
    const { id } = await server.create({});
    const token = await server.ok(`${ACCOUNTS}/${id}/person_tokens`, { body: {} });
    const lifetimeMs = Date.parse(token.expires_at) - Date.parse(token.created);
    assert.equal(lifetimeMs, 600_000);
    const body = { person_token: token.id };
    await server.clock.advanceMs(lifetimeMs);
    await server.refused(`${ACCOUNTS}/${id}/persons`, { body }, { code: 'token_expired' });
  });
});
