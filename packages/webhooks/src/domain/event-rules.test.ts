// Source: webhooks, section 8.1.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ValidationFailed } from '@plinth/kernel';
import { checkEvent } from './event-rules.js';
import { readEventBody } from './payload/event-body.js';

const NOW_MS = Date.UTC(2026, 0, 1);

/** The app 1 has the client id `one` and the installation 7; the app 2 has neither. */
const check = async (body: object, headerKey?: string) =>
  await checkEvent(readEventBody(Buffer.from(JSON.stringify(body))), {
    nowMs: NOW_MS,
    // Also finds ids of other types, which the rules must therefore reject.
    findAppId: async ({ id, client_id }) =>
      client_id === 'one' ? 1 : [1, 2].find((known) => known === Math.floor(Number(id))),
    findInstallationApp: async (id) => (id === 7 ? 1 : undefined),
    ...(headerKey !== undefined && { headerKey }),
  });

async function refuse(body: object, field: string, code: string, headerKey?: string) {
  await assert.rejects(check(body, headerKey), (error) => {
    assert.ok(error instanceof ValidationFailed);
    const found = error.errors.map((each) => [each.resource, each.field, each.code]);
    assert.deepEqual(found, [['Event', field, code]], JSON.stringify(body));
    return true;
  });
}

const X = { event: 'x', payload: {} };

it('refuses invalid members and names them', async () => {
  await refuse({ payload: {} }, 'event', 'missing_field');
  await refuse({ event: 'x' }, 'payload', 'missing_field');
  // Only the server sends pings.
  for (const event of ['ping', 'Upper', 'a\r\nX-Evil: 1', 'x'.repeat(101), '', 5]) {
    await refuse({ event, payload: {} }, 'event', 'invalid');
  }
  for (const payload of [[], 'text', null]) await refuse({ ...X, payload }, 'payload', 'invalid');
  for (const action of [5, '', 'x'.repeat(101), 'a\0']) {
    await refuse({ ...X, action }, 'action', 'invalid');
  }
  for (const own of ['own', 5]) {
    await refuse({ event: 'x', payload: { action: own }, action: 'other' }, 'action', 'invalid');
  }
  await refuse({ ...X, instalation_id: 5 }, 'instalation_id', 'invalid');
  for (const field of ['installation_id', 'repository_id']) {
    for (const id of [0, 1.5, '5', 2 ** 53]) await refuse({ ...X, [field]: id }, field, 'invalid');
  }
  for (const key of ['x'.repeat(256), 'a\tb', 'a\u0085b', '', 5]) {
    await refuse({ ...X, id: key }, 'id', 'invalid');
    await refuse({ ...X, ordering_key: key }, 'ordering_key', 'invalid');
    if (typeof key === 'string') await refuse(X, 'Idempotency-Key', 'invalid', key);
  }
  for (const deliver_at of ['soon', '2026', 5, '2026-01-31T00:00:01Z', '2999-01-01T00:00:00Z']) {
    await refuse({ ...X, deliver_at }, 'deliver_at', 'invalid');
  }
  for (const [field, value, code] of [
    ['app_id', 3, 'missing'],
    ['app_id', '1', 'invalid'],
    ['app_id', 1.5, 'invalid'],
    ['client_id', 'two', 'missing'],
    ['client_id', 'x'.repeat(101), 'invalid'],
    ['app_ids', [1, 3], 'missing'],
    ['app_ids', 1, 'invalid'],
    ['app_ids', Array(1001).fill(1), 'invalid'],
  ] as const) {
    await refuse({ ...X, [field]: value }, field, code);
  }
});

it('includes the rejected value in an error, if there is one', async () => {
  const errors = [
    { resource: 'Event', field: 'event', code: 'missing_field' },
    { resource: 'Event', field: 'action', code: 'invalid', value: 5 },
  ];
  await assert.rejects(check({ payload: {}, action: 5 }), { errors });
});

describe('an accepted event', () => {
  it('has these members', async () => {
    const { payload: _, ...event } = await check({
      ...{ event: 'topic.sub-1_x', payload: {}, action: 'opened', installation_id: 9 },
      ...{ repository_id: 8, id: 'k', ordering_key: 'o', app_ids: [2, 1] },
      deliver_at: '2026-01-31T00:00:00Z',
    });
    assert.deepEqual(event, {
      ...{ event: 'topic.sub-1_x', action: 'opened', installation_id: 9, repository_id: 8 },
      ...{ appIds: [2, 1], idempotencyKey: 'k', orderingKey: 'o' },
      deliverAtMs: NOW_MS + 30 * 86_400_000,
    });
    assert.equal((await check({ ...X, id: 'own' }, 'header')).idempotencyKey, 'own');
    assert.equal((await check(X, 'header')).idempotencyKey, 'header');
  });

  it('takes missing members from its payload', async () => {
    const payload = { action: 'own', installation: { id: 3 }, repository: { id: 4 } };
    const event = await check({ event: 'x', payload, action: 'own' });
    assert.deepEqual([event.installation_id, event.repository_id], [3, 4]);
    for (const [action, expected] of [
      ['own', 'own'],
      ['x'.repeat(101), undefined],
      [5, undefined],
    ]) {
      assert.equal((await check({ event: 'x', payload: { action } })).action, expected);
    }
  });

  it('is for the named apps, or the app of its installation, or all apps', async () => {
    const targets = async (more: object) => (await check({ ...X, ...more })).appIds;
    assert.deepEqual(await targets({ app_id: 2 }), [2]);
    assert.deepEqual(await targets({ client_id: 'one' }), [1]);
    assert.deepEqual(await targets({ installation_id: 7 }), [1]);
    assert.deepEqual(await targets({ payload: { installation: { id: 7 } } }), [1]);
    assert.deepEqual(await targets({ installation_id: 7, app_id: 2 }), [2]);
    assert.equal(await targets({ installation_id: 8 }), undefined);
    assert.equal(await targets({}), undefined);
  });
});
